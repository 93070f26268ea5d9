/** The position in the pipeline that a stage of the plan comes from; errors at run time state it. */
export interface StagePlace {
  /** Counts from 0, as in the user's pipeline. */
  readonly stage: number;
  readonly stageName: string;
}

/** Stages from SQL have no place: SQL errors have lines and columns. */
export interface Placed {
  readonly at?: StagePlace;
}
