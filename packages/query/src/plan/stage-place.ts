/** Where in a pipeline a stage of the plan comes from: what runs it says so in its errors. */
export interface StagePlace {
  /** Counts from 0, as the user's pipeline does. */
  readonly stage: number;
  readonly stageName: string;
}

/** Stages of SQL have no place: its errors have lines and columns. */
export interface Placed {
  readonly at?: StagePlace;
}
