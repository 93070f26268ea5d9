/** SQL conditions as text, combined so that conditions that are always or never true disappear. The text is all ours; values are bound. */
import { getOrInsert } from '@platform/base';

/** A condition; NULL counts as false. */
export type Sql = string;

export const yes = 'TRUE';
export const no = 'FALSE';

export function and(terms: readonly Sql[]): Sql {
  if (terms.includes(no)) return no;
  const left = [...new Set(terms.filter((term) => term !== yes))];
  if (left.length < 2) return left[0] ?? yes;
  return `(${left.join(' AND ')})`;
}

export function or(terms: readonly Sql[]): Sql {
  if (terms.includes(yes)) return yes;
  const left = [...new Set(terms.filter((term) => term !== no))];
  if (left.length < 2) return left[0] ?? no;
  return `(${left.join(' OR ')})`;
}

export function not(term: Sql): Sql {
  if (term === yes) return no;
  if (term === no) return yes;
  return `((${term}) IS NOT TRUE)`;
}

/** A value bound to a statement. */
export type Bind =
  | { readonly type: 'double'; readonly value: number }
  | { readonly type: 'bigint'; readonly value: bigint }
  | { readonly type: 'text'; readonly value: string };

/** Collects bound values and numbers them; equal values share a number. `$1` is reserved for the list of files. */
export class Binds {
  readonly values: Bind[] = [];
  readonly #known = new Map<string, string>();

  /** SQL placeholder of the value. */
  of(bind: Bind): string {
    return getOrInsert(this.#known, `${bind.type}:${bind.value}`, () => `$${this.values.push(bind) + 1}`);
  }
}

/**
 * Renumbers the values still used in the text and in its sums. Conditions that turned out to be always or never true leave unused values.
 */
export function onlyUsed<Sum extends { readonly column: Sql }>(
  sql: string,
  values: readonly Bind[],
  sums: readonly Sum[] = [],
): { readonly sql: string; readonly binds: readonly Bind[]; readonly sums: readonly Sum[] } {
  const used: number[] = [];
  const numbered = (text: string): string =>
    text.replace(/\$(\d+)/g, (_, number: string) => {
      const index = Number(number) - 2;
      if (index < 0) return '$1';
      if (!used.includes(index)) used.push(index);
      return `$${used.indexOf(index) + 2}`;
    });
  const text = numbered(sql);
  const added = sums.map((sum) => ({ ...sum, column: numbered(sum.column) }));
  return { sql: text, binds: used.map((index) => values[index] as Bind), sums: added };
}
