/** `<time>_<stream>_<seq>.prog` while open, `<time>_<stream>_<seq>_<readings>.capture` once sealed: a file that was cut off is noticed by its name. */

/** The sealed name of an open file, or of a sealed one that has another number of readings. */
export function sealedName(path: string, readings: number): string {
  return path.replace(/\.prog$|(?<=_\d+)_\d+\.capture$|\.capture$/, `_${readings}.capture`);
}

/** How many readings a sealed file was named to have; undefined if its name does not say. */
export function readingsInName(path: string): number | undefined {
  const [, count] = /_\d+_(\d{1,9})\.capture(\.damaged)?$/.exec(path) ?? [];
  return count === undefined ? undefined : Number(count);
}
