/** Reports problems in the spelling of the document's author: internally every name is `core:…`, but public clients write `rdk:…`. */
import type { Problem } from '@platform/base';

const name = /\bcore:(?=[\w-]+:[\w-]+)/g;

/** A document that mixes both spellings is reported as `core`. @param given the document as written, still unchecked */
export function asWritten(problems: readonly Problem[], given: Readonly<Record<string, unknown>>): readonly Problem[] {
  const { sensor_name: sensor } = (given['maintenance'] ?? {}) as { readonly sensor_name?: unknown };
  const names = [given['components'], given['services'], [{ api: sensor }]]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .flatMap((entry) => {
      const { api, model } = (entry ?? {}) as { readonly api?: unknown; readonly model?: unknown };
      return [api, model].filter((one) => typeof one === 'string');
    });
  const isWritten = (space: string): boolean => names.some((one) => one.startsWith(`${space}:`));
  if (!isWritten('rdk') || isWritten('core')) return problems;
  return problems.map((problem) => ({ ...problem, message: problem.message.replace(name, 'rdk:') }));
}
