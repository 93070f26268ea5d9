/** The fields of stored rows that a plan names, to tell users about those that do not exist. */
import type { Path } from './expr.ts';
import { collect, collectPaths, collectTree, type FieldRead } from './fields-read.ts';
import type { Plan } from './stage.ts';

/** @returns each path once, in the order of the query, up to the stage that makes other rows; never the empty path */
export function fieldsNamed({ source, stages }: Plan): readonly Path[] {
  const read: FieldRead[] = [];
  for (const stage of source === 'none' ? [] : stages) {
    if (stage.k === 'filter') collect(stage.where, read);
    else if (stage.k === 'sort') collectPaths(stage.by, read);
    else if (stage.k === 'unwind') read.push({ path: stage.path, as: 'value' });
    else if (stage.k !== 'slice' && stage.k !== 'sample') {
      if (stage.k === 'group' || stage.k === 'bucketAuto') {
        collect(stage.key, read);
        for (const [, { arg, by }] of stage.accumulators) {
          collect(arg, read);
          collectPaths(by ?? [], read);
        }
      } else if (stage.k === 'replace') collect(stage.with, read);
      else if (stage.k === 'shape' && stage.mode === 'include') collectTree(stage.tree, [], read);
      break;
    }
  }
  const paths = new Map(read.map(({ path }) => [JSON.stringify(path), path]));
  return [...paths.values()].filter((path) => path.length > 0);
}
