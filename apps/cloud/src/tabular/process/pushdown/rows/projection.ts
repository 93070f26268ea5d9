/** A stage that makes a row of each row, as far as columns may give what it makes: fields of the row, constants, objects of them. */
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
  /** Columns of the row that stay, or what of them; in the order of the row. */
  readonly kept: readonly (readonly [column: string, what: Kept])[];
  /** What comes behind them, in this order. */
  readonly made: readonly Made[];
  /** The executor refuses rows that are too large; of fields that only stay it does not look at the size. */
  readonly isBuilt: boolean;
}

/** A field that is made; some have no value in some rows. */
export type Made = { readonly name: string } & (
  | { readonly k: 'path'; readonly path: Path }
  | { readonly k: 'constant'; readonly value: BsonValue }
  /** Something else that is the same for all rows of a series. */
  | { readonly k: 'series'; readonly expr: Expr }
  /** Always there. */
  | { readonly k: 'object'; readonly fields: readonly Made[] }
);

/** A projection is looked at for each file: one of more fields is left to the executor. */
const maxFields = 64;
/** Levels of objects that are made: what is built for a row is bounded, and each level counts what is in it again. */
const maxLevels = 4;
const maxTextLength = 1_024;

/** Undefined when it is for the executor, whatever the file. */
export function projectionOf(stage: RowStage): Projection | undefined {
  const reader = new Reader();
  const found =
    stage.k === 'shape'
      ? stage.mode === 'include' && stage.inOrder !== true && reader.tree(stage.tree)
      : stage.with.k === 'doc' && { kept: [], made: reader.made(stage.with.fields, 0), isBuilt: true };
  return found === false || reader.isRefused ? undefined : found;
}

class Reader {
  /** What is read after that makes no difference. */
  isRefused = false;
  #fields = 0;

  tree({ fields }: ShapeTree): Projection {
    const kept = new Map<string, Kept>();
    const made: (readonly [string, Expr])[] = [];
    for (const [name, part] of fields) {
      if (part.k === 'set') made.push([name, part.value]);
      else if (readingColumns.includes(name)) kept.set(name, this.#kept(part));
      else if (part.k === 'tree') {
        // Rows have no such field: what is computed below it is in a new object.
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
    // Of two with one name the later value takes the place of the earlier.
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

  /** Whether there is room for one more field. */
  #spend(): boolean {
    if (++this.#fields > maxFields) this.isRefused = true;
    return !this.isRefused;
  }
}

/** Below tags there is nothing, but in a list; parameters may be nested so deeply that they cannot be in another object. */
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
