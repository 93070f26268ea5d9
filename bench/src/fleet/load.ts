/** How large a bench of a fleet is; others take no notice. */
export interface Load {
  /** Machines. */
  readonly parts: number;
  /** How long to measure. */
  readonly seconds: number;
}
