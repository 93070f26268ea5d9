/** `<time>_<stream>_<seq>.prog` while open, `<time>_<stream>_<seq>_<readings>.capture` once sealed: the name reveals a truncated file. */

/** The sealed name of an open file, or of a sealed file with a different number of readings. */
export function sealedName(path: string, readings: number): string {
  return path.replace(/\.prog$|(?<=_\d+)_\d+\.capture$|\.capture$/, `_${readings}.capture`);
}

/** The number of readings in the name of a sealed file; undefined if there is none. */
export function readingsInName(path: string): number | undefined {
  const [, count] = /_\d+_(\d{1,9})\.capture(\.damaged)?$/.exec(path) ?? [];
  return count === undefined ? undefined : Number(count);
}
