/** What the parser of SQL produces. Every node knows the token it began with, for errors. */

import type { BsonValue } from '../bson/value.ts';
import type { Token } from './lex.ts';

export type SqlNode =
  | { readonly k: 'literal'; readonly value: BsonValue; readonly at: Token }
  | { readonly k: 'column'; readonly path: readonly string[]; readonly at: Token }
  | { readonly k: 'call'; readonly fn: string; readonly args: readonly SqlNode[]; readonly at: Token }
  /** COUNT(*) has no argument. */
  | {
      readonly k: 'aggregate';
      readonly fn: string;
      readonly arg: SqlNode | undefined;
      readonly distinct: boolean;
      readonly at: Token;
    }
  | { readonly k: 'document'; readonly fields: readonly (readonly [string, SqlNode])[]; readonly at: Token };

export type SelectItem =
  | { readonly k: 'all'; readonly qualifier: string | undefined; readonly at: Token }
  | { readonly k: 'expression'; readonly value: SqlNode; readonly alias: string | undefined; readonly at: Token };

export interface OrderItem {
  readonly value: SqlNode;
  readonly descending: boolean;
}

export interface Select {
  readonly distinct: boolean;
  /** SELECT VALUE: the one expression is the row. */
  readonly value: boolean;
  readonly items: readonly SelectItem[];
  readonly table: { readonly path: readonly string[]; readonly alias: string | undefined; readonly at: Token };
  readonly where: SqlNode | undefined;
  readonly groupBy: readonly { readonly value: SqlNode; readonly alias: string | undefined }[];
  readonly having: SqlNode | undefined;
  readonly orderBy: readonly OrderItem[];
  readonly limit: number | undefined;
  readonly offset: number;
}
