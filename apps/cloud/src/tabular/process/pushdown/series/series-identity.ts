/** Identifies a series across files. */
import { createHash } from 'node:crypto';
import { seriesColumns } from '@platform/query';
import type { Series } from '../../../catalog/series.ts';
import type { FileFacts } from '../../files/file-facts.ts';

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

/** Equal for files in which each number means the same series. */
export function numberingOf(facts: FileFacts): string {
  let numbering = numberings.get(facts);
  if (numbering === undefined) {
    numbering = createHash('sha256').update(textOf(facts.series)).digest('base64');
    numberings.set(facts, numbering);
  }
  return numbering;
}

/** Every part prefixed by its length. Not cached: a thousand files may have a thousand series each. */
function textOf(all: readonly Series[]): string {
  let text = '';
  const add = (part: string): void => {
    text += part.length;
    text += ':';
    text += part;
  };
  for (const { path, tags, additionalParameters } of all) {
    for (const column of seriesColumns) add(path[column]);
    text += `${tags.length},`;
    for (const tag of tags) add(tag);
    add(
      Buffer.from(additionalParameters.buffer, additionalParameters.byteOffset, additionalParameters.length).toString(
        'latin1',
      ),
    );
  }
  return text;
}
