/** docs/specs/states.md says what makes each true. */
export const repairOutcomes = [
  'restored',
  'can be restored',
  'lost',
  'loss accepted',
  'would be given up',
  'not mended',
] as const;

/** A line in the report of `platform admin repair`, which the cloud produces and the command line shows. */
export interface Repaired {
  /** A file below the data directory, rows of the ingest log, or a row of the catalog. */
  readonly what: string;
  readonly damage: string;
  /** `can be restored` and `would be given up` come from a dry run. */
  readonly outcome: (typeof repairOutcomes)[number];
  readonly detail: string;
  readonly organizationId?: string;
  readonly captureDay?: string;
  readonly rows?: number;
  /** time_received, in milliseconds since 1970. */
  readonly firstMs?: number | null;
  readonly lastMs?: number | null;
}
