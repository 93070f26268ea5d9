/** Selects and orders versions of packages. Semantic versioning 2.0.0, section 11. */

const semantic = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;

/** `1.2.3`, with or without a suffix after `-` or `+`. */
export function isExactVersion(version: string): boolean {
  return semantic.test(version);
}

export interface Versioned {
  readonly version: string;
  readonly created_ms: number;
}

/**
 * The versions selected by `wanted`, newest first. An exact version selects itself, `1.2` or `1` those beneath it, and `latest` or nothing
 * selects all. Prereleases (`1.0.0-rc1`) are included only if named exactly, with `latest-with-prerelease`, or if there are no others.
 */
export function matching<V extends Versioned>(all: readonly V[], wanted: string): readonly V[] {
  const exact = all.filter(({ version }) => version === wanted);
  if (exact.length > 0) return exact;
  const beneath = /^\d{1,9}(\.\d{1,9})?$/.test(wanted) ? all.filter((one) => one.version.startsWith(`${wanted}.`)) : [];
  const isAny = wanted === '' || wanted === 'latest' || wanted === 'latest-with-prerelease';
  const sorted = (isAny ? all : beneath).toSorted(newerFirst);
  if (wanted === 'latest-with-prerelease') return sorted;
  const released = sorted.filter(({ version }) => semantic.exec(version)?.[4] === undefined);
  return released.length > 0 ? released : sorted;
}

/** Versions that are not semantic are older than all semantic ones, and ordered among themselves by date. */
export function newerFirst(a: Versioned, b: Versioned): number {
  const [x, y] = [semantic.exec(a.version), semantic.exec(b.version)];
  if (x === null || y === null)
    return Number(x === null) - Number(y === null) || b.created_ms - a.created_ms || compareText(b.version, a.version);
  for (const at of [1, 2, 3]) {
    const difference = Number(y[at]) - Number(x[at]);
    if (difference !== 0) return difference;
  }
  return comparePrerelease(y[4], x[4]) || b.created_ms - a.created_ms;
}

function comparePrerelease(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  const [left, right] = [a.split('.'), b.split('.')];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const [x, y] = [left[at], right[at]];
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1;
    const [isNumberX, isNumberY] = [/^\d+$/.test(x), /^\d+$/.test(y)];
    const difference =
      isNumberX && isNumberY ? Number(x) - Number(y) : Number(isNumberY) - Number(isNumberX) || compareText(x, y);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
