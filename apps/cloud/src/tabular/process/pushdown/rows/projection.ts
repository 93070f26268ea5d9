/** A stage that makes one row from each row, if columns may provide the result: fields of the row, constants, and objects of them. */
import {
  BsonDate,
  type BsonValue,
  Decimal128,
  type Expr,
  Int32,
  ObjectId,
  type Path,
  type RowStage,
  readingColumns,
  type ShapeLeaf,
  type ShapeTree,
} from '@platform/query';
import { referencedFields } from '../conditions/referenced-fields.ts';
import { isOfSeries } from '../series/series-values.ts';
import type { Kept } from './row-shape.ts';

export interface Projection {
  /** Columns of the row that are kept wholly or in part, in the order of the row. */
  readonly kept: readonly (readonly [column: string, what: Kept])[];
  /** Computed fields that follow them, in this order. */
  readonly made: readonly Made[];
  /** Whether the executor refuses rows that are too large; it does not check the size when fields are only kept. */
  readonly isBuilt: boolean;
}

/** A computed field; it may have no value in some rows. */
export type Made = { readonly name: string } & (
  | { readonly k: 'path'; readonly path: Path }
  | { readonly k: 'constant'; readonly value: BsonValue }
  /** Another value that is constant within a series. */
  | { readonly k: 'series'; readonly expr: Expr }
  /** Always present. */
  | { readonly k: 'object'; readonly fields: readonly Made[] }
);

/** A projection is examined for each file; one with more fields is left to the executor. */
const maxFields = 64;
/** Maximum levels of computed objects. This limits what is built for a row; content is counted again at each level. */
const maxLevels = 4;
const maxTextLength = 1_024;

/** Undefined if the executor must do it, for any file. */
export function projectionOf(stage: RowStage): Projection | undefined {
  const reader = new Reader();
  const found =
    stage.k === 'shape'
      ? stage.mode === 'include' && stage.inOrder !== true && reader.tree(stage.tree)
      : stage.with.k === 'doc' && { kept: [], made: reader.made(stage.with.fields, 0), isBuilt: true };
  return found === false || reader.isRefused ? undefined : found;
}

class Reader {
  /** Once set, later results do not matter. */
  isRefused = false;
  #fields = 0;

  tree({ fields }: ShapeTree): Projection {
    const kept = new Map<string, Kept>();
    const made: (readonly [string, Expr])[] = [];
    for (const [name, part] of fields) {
      if (part.k === 'set') made.push([name, part.value]);
      else if (readingColumns.includes(name)) kept.set(name, this.#kept(part));
      else if (part.k === 'tree') {
        // Rows have no such field: values computed below it go into a new object.
        const object = this.#object(part, 1);
        if (object !== undefined) made.push([name, object]);
      }
    }
    const inOrder = readingColumns.flatMap((column) => {
      const what = kept.get(column);
      return what === undefined ? [] : [[column, what] as const];
    });
    return { kept: inOrder, made: this.made(made, 0), isBuilt: made.length > 0 };
  }

  made(fields: readonly (readonly [string, Expr])[], level: number): readonly Made[] {
    // Of two fields with one name, the later value replaces the earlier.
    if (new Set(fields.map(([name]) => name)).size < fields.length) this.isRefused = true;
    return fields.flatMap(([name, expr]) => (this.#spend() ? this.#made(name, expr, level) : []));
  }

  #made(name: string, expr: Expr, level: number): readonly Made[] {
    if (expr.k === 'doc' && level < maxLevels)
      return [{ name, k: 'object', fields: this.made(expr.fields, level + 1) }];
    if (expr.k === 'lit' && expr.value === undefined) return [];
    if (expr.k === 'lit' && isSmall(expr.value)) return [{ name, k: 'constant', value: expr.value }];
    const path = pathOf(expr);
    if (path !== undefined && !isOpen(path, level)) return [{ name, k: 'path', path }];
    const isKnown =
      isOfSeries(expr) && referencedFields(expr)?.every((read) => level === 0 || !isOpen(read, level)) === true;
    if (expr.k === 'lit' || !isKnown) this.isRefused = true;
    return [{ name, k: 'series', expr }];
  }

  #kept(part: ShapeTree | ShapeLeaf): Kept {
    if (this.#spend() && part.k === 'tree')
      return new Map(part.fields.map(([name, below]) => [name, this.#kept(below)]));
    if (part.k !== 'keep') this.isRefused = true;
    return 'all';
  }

  #object({ fields }: ShapeTree, level: number): Expr | undefined {
    if (level > maxLevels) this.isRefused = true;
    if (this.isRefused) return undefined;
    const computed = fields.flatMap(([name, part]): [string, Expr][] => {
      const value = part.k === 'set' ? part.value : part.k === 'tree' ? this.#object(part, level + 1) : undefined;
      return value === undefined ? [] : [[name, value]];
    });
    return computed.length === 0 ? undefined : { k: 'doc', fields: computed };
  }

  /** Counts one more field; returns whether it is allowed. */
  #spend(): boolean {
    if (++this.#fields > maxFields) this.isRefused = true;
    return !this.isRefused;
  }
}

/** Fields of tags exist only in lists, and parameters may be nested too deeply for another object. */
function isOpen([column, ...below]: Path, level: number): boolean {
  return (column === 'tags' && below.length > 0) || (column === 'additional_parameters' && level + below.length > 0);
}

function pathOf(expr: Expr): Path | undefined {
  const isField = expr.k === 'field' || (expr.k === 'var' && (expr.name === 'ROOT' || expr.name === 'CURRENT'));
  return isField && expr.path.length > 0 ? expr.path : undefined;
}

function isSmall(value: BsonValue | undefined): value is BsonValue {
  if (typeof value === 'string') return value.length <= maxTextLength;
  if (typeof value !== 'object') return value !== undefined;
  return value === null || [Int32, BsonDate, Decimal128, ObjectId].some((type) => value instanceof type);
}
