/** What is wrong with a configuration: where, how bad, and what to do. */
export interface Problem {
  /** JSON path, such as `triggers[0].event.type`. */
  readonly path: string;
  /** error: the trigger does not run. warning: it runs, perhaps not as meant. */
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

/** Collects problems; one that is an error makes `failed` true. */
export class Problems {
  readonly list: Problem[] = [];
  failed = false;

  error(path: string, message: string): undefined {
    this.list.push({ path, severity: 'error', message });
    this.failed = true;
  }

  warn(path: string, message: string): void {
    this.list.push({ path, severity: 'warning', message });
  }
}
