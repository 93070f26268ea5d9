/** A problem in a document that a user wrote: where it is, how severe, and what to do. */
export interface Problem {
  /** Such as `components[0].attributes.tags[1]`; `$` for the whole document. */
  readonly path: string;
  /** A document with an error must not be saved, or does not run; a warning only informs. */
  readonly level: 'error' | 'warning';
  readonly message: string;
}
