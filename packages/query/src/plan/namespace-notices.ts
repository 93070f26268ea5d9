/**
 * Conditions on component_type that can never hold, because the literal is written in the other vocabulary of API names (D47): patterns and
 * ranges. Literals that are compared for equality have both spellings (rewrite/spell-apis.ts), and this gets the plan after it.
 */
import { Regex } from '../bson/value.ts';
import { type Expr, partsOf } from './expr.ts';
import { isComponentType, keepsFields } from './rewrite/spell-apis.ts';
import type { Plan } from './stage.ts';

const maxNotices = 5;

/** @param vocabulary in which the rows are shown to the caller */
export function namespaceNotices({ stages }: Plan, vocabulary: 'core' | 'rdk'): string[] {
  const other = vocabulary === 'core' ? 'rdk:' : 'core:';
  const notices = new Set<string>();
  const visit = (expr: Expr): void => {
    const [subject] = partsOf(expr);
    if (expr.k === 'call' && subject !== undefined && isComponentType(subject))
      for (const text of expr.args.flatMap(textsIn))
        if (text.replace(/^\^/, '').startsWith(other))
          notices.add(
            `${expr.at}: component_type begins with "${vocabulary}:" here and never with "${other}"; write ${JSON.stringify(text.slice(0, 200).replace(other, `${vocabulary}:`))}`,
          );
    for (const part of partsOf(expr)) visit(part);
  };
  // After other stages, component_type may be something else.
  for (const stage of stages) {
    if (stage.k === 'filter') visit(stage.where);
    if (!keepsFields(stage)) break;
  }
  return [...notices].slice(0, maxNotices);
}

function textsIn(expr: Expr): readonly string[] {
  if (expr.k !== 'lit') return [];
  const values = Array.isArray(expr.value) ? expr.value : [expr.value];
  return values.flatMap((value) =>
    typeof value === 'string' ? [value] : value instanceof Regex ? [value.pattern] : [],
  );
}
