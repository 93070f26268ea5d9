/** Identifies a series across files. */
import { createHash } from 'node:crypto';
import { memoized } from '@platform/base';
import { seriesColumns } from '@platform/query';
import type { Series } from '../../../catalog/series.ts';
import type { FileFacts } from '../../files/file-facts.ts';

/** Equal for equal series; not kept. */
export function identityText({ path, tags, additionalParameters }: Series): string {
  return JSON.stringify([Object.values(path), tags, Buffer.from(additionalParameters).toString('latin1')]);
}

/** Equal for equal series; kept as long as the series. */
export const identityOf: (series: Series) => string = memoized(identityText);

/** Equal for files in which each number means the same series. */
export const numberingOf: (facts: FileFacts) => string = memoized(({ series }) =>
  createHash('sha256').update(textOf(series)).digest('base64'),
);

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
