/** Divides parts among statements, because a store limits the values of one. */
import { chunks } from '@platform/base';

const partsPerStatement = 5_000;
/** Up to this number, the index is read for each part; beyond it, for the whole organization. */
const fewParts = 50;

/** The parts of a scope, or undefined for every part of its organization. */
type Parts = readonly string[] | undefined;

export function partGroups(partIds: Parts): Iterable<Parts> {
  return partIds === undefined ? [undefined] : chunks(partIds, partsPerStatement);
}

/** For pages of an index that begins with the part: few parts are read one by one. */
export function pagedPartGroups(partIds: Parts): Iterable<Parts> {
  return partIds !== undefined && partIds.length <= fewParts ? chunks(partIds, 1) : partGroups(partIds);
}
