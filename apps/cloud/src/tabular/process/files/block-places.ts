/** Describes in words which bytes of a sealed file differ from what was written (docs/specs/integrity.md). */
import { blockBytes } from './checksum-file.ts';

/** Hexadecimal digits of a block's checksum. */
const crcDigits = 8;

/** The checksum of one block among those of a file. */
export function crcAt(crcs: string, block: number): string {
  return crcs.slice(crcDigits * block, crcDigits * (block + 1));
}

/** Numbers of the blocks whose checksums differ. */
export function differing(expected: string, found: string): number[] {
  const blocks = Array.from({ length: expected.length / crcDigits }, (_, at) => at);
  return blocks.filter((at) => crcAt(expected, at) !== crcAt(found, at));
}

/** @param wrong numbers of the blocks that differ, at least one  @param bytes size of the file */
export function placesOf(wrong: readonly number[], bytes: number): string {
  const [first = 0] = wrong;
  const range = `bytes ${first * blockBytes} to ${Math.min(bytes, (first + 1) * blockBytes) - 1}`;
  return wrong.length === 1
    ? `${range} differ from those that were written`
    : `${wrong.length} of its blocks differ from those that were written, the first at ${range}`;
}

export function sizeDiffers(found: bigint | number, expected: number): string {
  return `it has ${found} bytes instead of ${expected}`;
}

/** What exists in place of a file. */
export function notAFile(stamp: { isSymbolicLink(): boolean }): string {
  return stamp.isSymbolicLink() ? 'a symbolic link is in its place' : 'something other than a file is in its place';
}
