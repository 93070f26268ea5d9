/** All functions of expressions. */

import { arrays } from './arrays/registry.ts';
import { boolean } from './boolean.ts';
import { comparison } from './comparison.ts';
import { conditional } from './conditional.ts';
import { conversions } from './conversion/registry.ts';
import { dates } from './dates/registry.ts';
import type { FunctionDefinition, Functions } from './definition.ts';
import { fold } from './fold.ts';
import { meta } from './meta.ts';
import { numbers } from './numbers/registry.ts';
import { object } from './object.ts';
import { sql } from './sql/registry.ts';
import { strings } from './strings/registry.ts';
import { variables } from './variables.ts';

const definitions: Functions = {
  ...arrays,
  ...boolean,
  ...comparison,
  ...conditional,
  ...conversions,
  ...dates,
  ...fold,
  ...meta,
  ...numbers,
  ...object,
  ...sql,
  ...strings,
  ...variables,
};

/** By their names in plans. */
export const functions: ReadonlyMap<string, FunctionDefinition> = new Map(Object.entries(definitions));

/** What MQL can call, by its name with the dollar: the name in plans and the definition. */
export const operators: ReadonlyMap<string, { readonly fn: string; readonly definition: FunctionDefinition }> = new Map(
  [...functions].flatMap(([fn, definition]) =>
    definition.mql === undefined ? [] : [[`$${fn.replace(/^agg\./, '')}`, { fn, definition }]],
  ),
);
