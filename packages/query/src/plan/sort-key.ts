import type { Path } from './expr.ts';

export interface SortKey {
  readonly path: Path;
  readonly descending: boolean;
}
