/** Reports problems in the spelling of the document's author: internally every name is `core:…`, but public clients write `rdk:…`. */
import type { Problem } from '@platform/base';

const name = /\bcore:(?=[\w-]+:[\w-]+)/g;

/** A document that mixes both spellings is reported as `core`. @param lists components and services as they appear in the document */
export function asWritten(problems: readonly Problem[], ...lists: readonly unknown[]): readonly Problem[] {
  const names = lists
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .flatMap((entry) => {
      const { api, model } = (entry ?? {}) as { readonly api?: unknown; readonly model?: unknown };
      return [api, model].filter((one) => typeof one === 'string');
    });
  const isWritten = (space: string): boolean => names.some((one) => one.startsWith(`${space}:`));
  if (!isWritten('rdk') || isWritten('core')) return problems;
  return problems.map((problem) => ({ ...problem, message: problem.message.replace(name, 'rdk:') }));
}
