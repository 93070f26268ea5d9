/** A failure that the cloud answered, with its message. */
export class AnswerError extends Error {
  /** Of HTTP. */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}
