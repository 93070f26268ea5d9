/** Limits how deeply locations can be nested, because every call walks the path of its location. */
import { failedPrecondition } from '@platform/base';
import type { AccountTree } from '../tree.ts';

const maxDepth = 32;

/** @param parentId null: the top of the organization. @param height number of levels to place beneath it @throws failed_precondition */
export function checkedDepth(tree: AccountTree, parentId: string | null, height: number): void {
  const depth = (parentId === null ? 0 : tree.ancestors(parentId).length) + height;
  if (depth <= maxDepth) return;
  throw failedPrecondition(`location: expected at most ${maxDepth} levels of locations, found ${depth}`);
}

/** Number of levels of a location and its descendants; 1 for one without children. */
export function heightOf(tree: AccountTree, locationId: string): number {
  const above = tree.ancestors(locationId).length;
  return Math.max(...tree.descendants(locationId).map((id) => tree.ancestors(id).length)) - above + 1;
}
