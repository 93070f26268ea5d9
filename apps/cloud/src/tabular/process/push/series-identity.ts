/** What makes a series the same one in several files. */
import { createHash } from 'node:crypto';
import type { Series } from '../../series.ts';
import type { FileFacts } from '../file-facts.ts';

const identities = new WeakMap<Series, string>();

/** Equal for equal series. */
export function identityOf(series: Series): string {
  let identity = identities.get(series);
  if (identity === undefined) {
    const parameters = Buffer.from(series.additionalParameters).toString('latin1');
    identity = JSON.stringify([Object.values(series.path), series.tags, parameters]);
    identities.set(series, identity);
  }
  return identity;
}

const numberings = new WeakMap<FileFacts, string>();

/** Equal for files in which each number stands for the same series. */
export function numberingOf(facts: FileFacts): string {
  let numbering = numberings.get(facts);
  if (numbering === undefined) {
    const hash = createHash('sha256');
    for (const series of facts.series) hash.update(`${identityOf(series)}\n`);
    numbering = hash.digest('base64');
    numberings.set(facts, numbering);
  }
  return numbering;
}
