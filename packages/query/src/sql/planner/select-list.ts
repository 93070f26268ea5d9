/**
 * The SELECT list: which tables and columns the rows of the answer have. The name of a column is its alias; otherwise the last part of its
 * path; otherwise `_1`, `_2`, … by position. In flat rows, the later of two columns with the same name gets `_2`, `_3`, … appended.
 */

import { call, type Expr, field } from '../../plan/expr.ts';
import type { Stage } from '../../plan/stage.ts';
import type { Select, SelectItem } from '../parser/ast.ts';
import { fault } from '../parser/cursor.ts';
import { nearest } from '../parser/keywords.ts';
import { documentKind, kindText, unfit } from '../types/kind.ts';
import type { Block } from './block.ts';
import { notText, site } from './lower.ts';
import type { Source, Typed } from './scope.ts';

export interface Projection {
  /** Empty if the rows stay as they are. */
  readonly stages: readonly Stage[];
  /** The tables of the rows after these stages. */
  readonly sources: readonly Source[];
  /** Columns of the answer, as expressions before the stages. */
  readonly columns: ReadonlyMap<string, Typed>;
  /** Values of the items by position; undefined for items with a star. */
  readonly places: readonly (Typed | undefined)[];
}

export function projectionOf(select: Select, block: Block): Projection {
  const { sources } = block.scope;
  const places = select.items.map((item) => (item.k === 'all' ? undefined : block.lower(item.value)));
  const star = select.items.find((item) => item.k === 'all' && item.qualifier === undefined);
  if (star !== undefined) {
    if (select.items.length > 1)
      throw fault(star.at, '* must be the only column in SELECT', 'write table.* beside other columns');
    // Rows that differ only in the order of their fields are equal.
    if (select.distinct && sources.every(({ kind }) => kind.fields !== undefined && kind.open !== true)) {
      return { ...rebuilt(sources.map(inOrder)), columns: new Map(), places };
    }
    const stays = block.lookups === 0 && sources.every(({ doc }) => doc.k === 'field');
    if (stays) return { stages: [], sources, columns: new Map(), places };
    return { ...rebuilt(sources), columns: new Map(), places };
  }
  const columns = new Map<string, Typed>();
  const copies = new Map<string, number>();
  const outputs: Source[] = [];
  for (const [index, item] of select.items.entries()) {
    const value = places[index];
    if (item.k === 'all') outputs.push(tableOf(item, sources));
    else if (select.value) outputs.push(documentOf(item, value!));
    else columns.set(freeName(nameOf(item, index), columns, copies, item, block), value!);
  }
  if (!select.value && columns.size > 0) outputs.push(sourceOf(columns));
  if (select.value) for (const [name, value] of valueColumns(outputs)) columns.set(name, value);
  for (const [index, { name }] of outputs.entries()) {
    if (outputs.findIndex((other) => other.name === name) < index)
      throw fault(select.at, name === '' ? 'SELECT VALUES takes one document' : `the table ${name} is selected twice`);
  }
  return { ...rebuilt(outputs), columns, places };
}

function rebuilt(outputs: readonly Source[]): Pick<Projection, 'stages' | 'sources'> {
  const [only] = outputs;
  // A document that may be missing is combined with nothing, as a table that may be absent.
  if (outputs.length === 1 && only!.kind.types?.has('missing') !== true) {
    const { doc } = only!;
    const bare = doc.k === 'field' && doc.path.length === 0;
    return { stages: bare ? [] : [{ k: 'replace', with: doc }], sources: [{ ...only!, doc: field() }] };
  }
  const fields = outputs.map(({ name, doc }): [string, Expr] => [name, doc]);
  return {
    stages: [{ k: 'replace', with: { k: 'doc', fields } }],
    sources: outputs.map((output) => ({ ...output, doc: field(output.name) })),
  };
}

function inOrder(source: Source): Source {
  const { doc, kind } = source;
  const names = [...(kind.fields?.keys() ?? [])];
  if (doc.k !== 'field') return source;
  return { ...source, doc: { k: 'doc', fields: names.map((name) => [name, field(...doc.path, name)]) } };
}

function tableOf(item: SelectItem & { k: 'all' }, sources: readonly Source[]): Source {
  const source = sources.find(({ name }) => name === item.qualifier);
  if (source !== undefined) return source;
  const meant = nearest(
    item.qualifier!,
    sources.map(({ name }) => name),
  );
  throw fault(item.at, `unknown table ${item.qualifier}`, meant === undefined ? undefined : `did you mean ${meant}?`);
}

function documentOf(item: SelectItem & { k: 'expression' }, given: Typed): Source {
  const { expr, kind } = notText(given);
  if (unfit(kind, ['object']) || kind.types?.has('object') === false) {
    throw fault(
      item.value.at,
      `SELECT VALUE takes a document, found ${kindText(kind)}`,
      "e.g. SELECT VALUE {'name': …}",
    );
  }
  const isSure = kind.types !== undefined && [...kind.types].every((type) => type === 'object' || type === 'missing');
  return { name: '', doc: isSure ? expr : call('sql.document', [expr], site(item.value.at)), kind };
}

function nameOf(item: SelectItem & { k: 'expression' }, index: number): string {
  if (item.alias !== undefined) return item.alias;
  if (item.value.k === 'access') return item.value.name;
  return item.value.k === 'column' ? item.value.path.at(-1)! : `_${index + 1}`;
}

function freeName(
  wanted: string,
  taken: ReadonlyMap<string, Typed>,
  copies: Map<string, number>,
  item: SelectItem,
  block: Block,
): string {
  if (!taken.has(wanted)) return wanted;
  if (block.around.exact) throw fault(item.at, `two columns are named ${wanted}`, 'give one of them an alias');
  let copy = copies.get(wanted) ?? 2;
  while (taken.has(`${wanted}_${copy}`)) copy++;
  copies.set(wanted, copy + 1);
  return `${wanted}_${copy}`;
}

function sourceOf(columns: ReadonlyMap<string, Typed>): Source {
  const list = [...columns];
  const doc: Expr = { k: 'doc', fields: list.map(([name, { expr }]) => [name, expr]) };
  return { name: '', doc, kind: documentKind(list.map(([name, { kind }]) => [name, kind])) };
}

/** The fields of a document that is written out. */
function valueColumns(outputs: readonly Source[]): [string, Typed][] {
  const written = outputs.find(({ name }) => name === '');
  if (written?.doc.k !== 'doc') return [];
  return written.doc.fields.map(([name, expr]) => [
    name,
    { expr, kind: written.kind.fields?.get(name) ?? { open: true } },
  ]);
}
