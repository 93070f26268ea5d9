/** What is wrong with a document that somebody wrote: where, how bad, and what to do. */
export interface Problem {
  /** Such as `components[0].attributes.tags[1]`; `$` for the whole. */
  readonly path: string;
  /** With an error it must not be saved, or does not run; a warning only informs. */
  readonly level: 'error' | 'warning';
  readonly message: string;
}
