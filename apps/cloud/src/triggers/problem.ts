/** What is wrong with a configuration: where (a JSON path such as `triggers[0].event.type`), how bad, and what to do. */
export interface Problem {
  readonly path: string;
  /** error: the trigger does not run. warning: it runs, but not as written. */
  readonly severity: 'error' | 'warning';
  readonly message: string;
}
