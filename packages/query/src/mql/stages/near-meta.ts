/** Checks $meta of $geoNear's results: $geoNear must come before, and no stage since may have combined rows. */

import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import type { Stage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';

const kinds: readonly BsonValue[] = ['geoNearDistance', 'geoNearPoint'];
const ends: ReadonlySet<Stage['k']> = new Set(['group', 'bucketAuto']);

/** @throws QueryError 40218, with the position. */
export function checkNearMeta(stage: BsonDocument, before: readonly Stage[]): void {
  const isKnown = before.some(({ k }) => k === 'geoNear') && !before.some(({ k }) => ends.has(k));
  const found = isKnown ? undefined : metaIn(stage);
  if (found === undefined) return;
  throw new QueryError(40218, `$meta: no earlier stage produces ${found.kind}`, {
    path: found.path,
    hint: '$geoNear must be the first stage, and no stage between may group rows',
  });
}

function metaIn(value: BsonValue, path = ''): { readonly path: string; readonly kind: string } | undefined {
  const parts: readonly (readonly [string, BsonValue])[] =
    value instanceof BsonDocument
      ? [...value]
      : Array.isArray(value)
        ? value.map((item, index): [string, BsonValue] => [String(index), item])
        : [];
  for (const [name, part] of parts) {
    // A literal is not an expression.
    if (name === '$literal' || name === '$const') continue;
    const at = path === '' ? name : `${path}.${name}`;
    if (name === '$meta' && kinds.includes(part)) return { path: at, kind: String(part) };
    const below = metaIn(part, at);
    if (below !== undefined) return below;
  }
  return undefined;
}
