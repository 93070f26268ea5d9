/** Asks before something that cannot be taken back. */
export interface Question {
  /** What would be done, as a question: "Delete the key nightly?" */
  readonly title: string;
  /** What comes of it. */
  readonly consequence: string;
  /** Words of the button that does it. */
  readonly action: string;
  /** Default: true. False: nothing is lost by it. */
  readonly isDanger?: boolean;
}

interface Asked extends Question {
  readonly answer: (isConfirmed: boolean) => void;
}

export const questions = $state<{ current: Asked | undefined }>({ current: undefined });

/** Shows a dialog. A question that is still open is answered with no. @returns whether the person confirmed it */
export function isConfirmed(question: Question): Promise<boolean> {
  questions.current?.answer(false);
  return new Promise((resolve) => {
    questions.current = {
      ...question,
      answer(given) {
        questions.current = undefined;
        resolve(given);
      },
    };
  });
}
