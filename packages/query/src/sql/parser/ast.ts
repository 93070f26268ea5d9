/** The output of the SQL parser. Every node has its first token, for errors. */

import type { BsonValue } from '../../bson/value.ts';
import type { Token } from './lex.ts';

export type SqlNode =
  | { readonly k: 'literal'; readonly value: BsonValue; readonly at: Token }
  | { readonly k: 'column'; readonly path: readonly string[]; readonly at: Token }
  /** A field of a value that is not a column. */
  | { readonly k: 'access'; readonly of: SqlNode; readonly name: string; readonly at: Token }
  | { readonly k: 'call'; readonly fn: string; readonly args: readonly SqlNode[]; readonly at: Token }
  | SqlAggregate
  | { readonly k: 'document'; readonly fields: readonly (readonly [string, SqlNode])[]; readonly at: Token }
  /** `value::!TYPE`: the value is of this type. */
  | { readonly k: 'assert'; readonly of: SqlNode; readonly type: string; readonly at: Token }
  | SqlSubquery;

/** COUNT(*) has no argument; COUNT(a, b) has one that is a document. */
export interface SqlAggregate {
  readonly k: 'aggregate';
  readonly fn: string;
  readonly arg: SqlNode | undefined;
  readonly distinct: boolean;
  readonly at: Token;
}

export interface SqlSubquery {
  readonly k: 'subquery';
  readonly how: 'scalar' | 'exists' | 'any' | 'all';
  readonly query: Query;
  /** For `any` and `all`: the value compared with each row, and the operator. */
  readonly left?: SqlNode;
  readonly op?: string;
  readonly at: Token;
}

export type SelectItem =
  | { readonly k: 'all'; readonly qualifier: string | undefined; readonly at: Token }
  | { readonly k: 'expression'; readonly value: SqlNode; readonly alias: string | undefined; readonly at: Token };

export interface OrderItem {
  readonly value: SqlNode;
  readonly descending: boolean;
}

export type From =
  | {
      readonly k: 'collection';
      readonly path: readonly string[];
      readonly alias: string | undefined;
      readonly at: Token;
    }
  | { readonly k: 'array'; readonly items: readonly SqlNode[]; readonly alias: string; readonly at: Token }
  | { readonly k: 'derived'; readonly query: Query; readonly alias: string; readonly at: Token }
  | {
      readonly k: 'join';
      readonly how: 'inner' | 'left';
      readonly left: From;
      readonly right: From;
      readonly on: SqlNode | undefined;
      readonly at: Token;
    }
  | {
      readonly k: 'unwind';
      readonly of: From;
      readonly paths: readonly UnwindPath[];
      readonly at: Token;
    }
  | {
      readonly k: 'flatten';
      readonly of: From;
      readonly separator: string;
      readonly depth: number | undefined;
      readonly at: Token;
    };

/** The arrays on a path, from the outside in: `a[].b[]` unwinds `a`, then `a.b`. */
export interface UnwindPath {
  readonly steps: readonly UnwindStep[];
  readonly at: Token;
}

export interface UnwindStep {
  readonly path: readonly string[];
  /** The name of its index; absent: none. */
  readonly index?: string;
  readonly outer: boolean;
}

export interface Select {
  readonly k: 'select';
  readonly distinct: boolean;
  /** SELECT VALUE: the expressions are documents, and each is a row. */
  readonly value: boolean;
  readonly items: readonly SelectItem[];
  readonly from: From | undefined;
  readonly where: SqlNode | undefined;
  readonly groupBy: readonly { readonly value: SqlNode; readonly alias: string | undefined }[] | undefined;
  readonly aggregates: readonly { readonly value: SqlAggregate; readonly alias: string }[];
  readonly having: SqlNode | undefined;
  readonly orderBy: readonly OrderItem[];
  readonly limit: number | undefined;
  readonly offset: number;
  readonly at: Token;
}

export type Query =
  | Select
  | { readonly k: 'union'; readonly all: boolean; readonly left: Query; readonly right: Query; readonly at: Token }
  | {
      readonly k: 'with';
      readonly tables: readonly (readonly [name: string, query: Query])[];
      readonly query: Query;
      readonly at: Token;
    };

/** The direct subexpressions of an expression; for a subquery, the value that it is compared with. */
/** The expressions of a SELECT list. */
export function expressionsOf(items: readonly SelectItem[]): readonly SqlNode[] {
  return items.flatMap((item) => (item.k === 'expression' ? [item.value] : []));
}

export function partsOf(node: SqlNode): readonly SqlNode[] {
  switch (node.k) {
    case 'call':
      return node.args;
    case 'document':
      return node.fields.map(([, value]) => value);
    case 'access':
    case 'assert':
      return [node.of];
    case 'aggregate':
      return node.arg === undefined ? [] : [node.arg];
    case 'subquery':
      return node.left === undefined ? [] : [node.left];
    case 'literal':
    case 'column':
      return [];
  }
}
