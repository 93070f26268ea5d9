import type { Problem } from '@platform/base';

/** Collects problems; an error sets `failed`. */
export class Problems {
  readonly list: Problem[] = [];
  failed = false;

  error(path: string, message: string): undefined {
    this.list.push({ path, level: 'error', message });
    this.failed = true;
  }

  warn(path: string, message: string): void {
    this.list.push({ path, level: 'warning', message });
  }
}
