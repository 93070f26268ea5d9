/** Conditions on component_type that can never hold, because the literal is written in the other vocabulary of API names (D2). */
import { type Expr, partsOf } from './expr.ts';
import type { Plan } from './stage.ts';

const maxNotices = 5;

/** @param vocabulary in which the rows are shown to the caller */
export function namespaceNotices({ stages }: Plan, vocabulary: 'core' | 'rdk'): string[] {
  const other = vocabulary === 'core' ? 'rdk:' : 'core:';
  const notices = new Set<string>();
  const visit = (expr: Expr): void => {
    const [subject] = partsOf(expr);
    if (expr.k === 'call' && subject?.k === 'field' && subject.path.join('.') === 'component_type')
      for (const text of expr.args.flatMap(textsIn))
        if (text.startsWith(other))
          notices.add(
            `${expr.at}: component_type begins with "${vocabulary}:" here and never with "${other}"; write ${JSON.stringify(`${vocabulary}:${text.slice(other.length, 200)}`)}`,
          );
    for (const part of partsOf(expr)) visit(part);
  };
  // After another stage, component_type may be something else.
  for (const stage of stages) {
    if (stage.k !== 'filter') break;
    visit(stage.where);
  }
  return [...notices].slice(0, maxNotices);
}

function textsIn(expr: Expr): readonly string[] {
  if (expr.k !== 'lit') return [];
  const values = Array.isArray(expr.value) ? expr.value : [expr.value];
  return values.filter((value) => typeof value === 'string');
}
