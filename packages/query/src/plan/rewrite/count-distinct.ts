/** If only `{$size: '$field'}` of an `{$addToSet: x}` is used afterwards, counts its values and never builds the array. */

import type { Accumulator } from '../accumulator.ts';
import type { GroupStage, Stage } from '../stage.ts';

/** @returns the stages, in which such sets became their sizes. */
export function countDistinct(stages: readonly Stage[]): readonly Stage[] {
  const at = stages.findIndex(({ k }) => k === 'group');
  const group = stages[at];
  if (group?.k !== 'group') return stages;
  const [before, after] = [stages.slice(0, at), stages.slice(at + 1)];
  const end = after.findIndex(makesNewRows);
  if (end < 0) return stages;
  let read = after.slice(0, end + 1);
  const counted = new Set<string>();
  for (const [name, { fn, distinct }] of group.accumulators) {
    if (fn !== 'addToSet' || distinct === true) continue;
    const sized = read.map((stage) => sizedIn(stage, name));
    if (sized.includes(undefined)) continue;
    read = sized as Stage[];
    counted.add(name);
  }
  const accumulators = group.accumulators.map(([name, accumulator]): readonly [string, Accumulator] => [
    name,
    counted.has(name) ? { ...accumulator, fn: 'setSize' } : accumulator,
  ]);
  const counting: GroupStage = { ...group, accumulators };
  return counted.size === 0 ? stages : [...before, counting, ...read, ...after.slice(end + 1)];
}

/** No later stage reads the rows before it. */
function makesNewRows(stage: Stage): boolean {
  return (stage.k === 'shape' && stage.mode === 'include') || stage.k === 'replace' || stage.k === 'group';
}

/** The stage with the field in place of its size; undefined if it reads, or may read, the set itself. */
function sizedIn(stage: Stage, name: string): Stage | undefined {
  const isKept = stage.k === 'shape' && stage.tree.fields.some(([field, { k }]) => field === name && k !== 'set');
  const isSimple = ['filter', 'sort', 'slice', 'shape', 'replace', 'group'].includes(stage.k);
  return isKept || !isSimple ? undefined : (sized(stage, name) as Stage | undefined);
}

type Node = {
  readonly k?: string;
  readonly fn?: string;
  readonly args?: readonly Node[];
  readonly path?: readonly string[];
};

/** Plans are plain data; undefined if the field is read in any other way. */
function sized(node: unknown, name: string): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) {
    const items = node.map((item) => sized(item, name));
    return items.some((item, index) => item === undefined && node[index] !== undefined) ? undefined : items;
  }
  const { k, fn, args, path } = node as Node;
  if (k === 'lit') return node;
  if (k === 'call' && fn === 'agg.size' && isField(args?.[0], name)) return args?.[0];
  // A whole row includes the set too.
  if (Array.isArray(path) && (path.length === 0 || path[0] === name)) return undefined;
  const entries = Object.entries(node).map(([key, value]) => [key, sized(value, name), value] as const);
  if (entries.some(([, made, value]) => made === undefined && value !== undefined)) return undefined;
  return Object.fromEntries(entries.map(([key, made]) => [key, made]));
}

function isField(node: Node | undefined, name: string): boolean {
  return node?.k === 'field' && node.path?.length === 1 && node.path[0] === name;
}
