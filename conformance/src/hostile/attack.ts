/** One hostile request. */
export interface Attack {
  readonly url: string;
  /** `package.Service/Method` */
  readonly method: string;
  /** Absent: that of the method. */
  readonly path?: string;
  /** A name of `shapes`, or of `jsonShapes` for codecs in JSON. */
  readonly shape: string;
  /** A name of `codecs`. */
  readonly codec: string;
  /** Size of the message before compression. */
  readonly bytes: number;
  /** Credentials, and the part that the call is for. */
  readonly headers: Readonly<Record<string, string>>;
}
