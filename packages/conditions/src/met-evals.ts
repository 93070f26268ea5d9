/** Which evals of a condition a reading meets, so that a notification can say why it was sent. */
import { findOperand } from './field-path.ts';
import { isObject, type Json, type JsonObject } from './json.ts';
import { Instant, type Operand, Pattern, parseLeaf } from './leaf.ts';
import { operators } from './operators.ts';

export interface MetEval {
  /** Such as `readings.cpu` or `list.0`. */
  readonly path: string;
  readonly operator: string;
  /** As text: JSON, the date, or the pattern between slashes. */
  readonly operand: string;
  readonly value: Json;
  /** Whether the reading meets it. */
  readonly isMet: boolean;
}

/** More are not looked at. */
const maxEvals = 200;

/**
 * The evals of `conditions` whose field the reading has, in their order.
 *
 * @param json `event.conditional`, of any shape. Never throws.
 */
export function evalsOf(json: unknown, document: JsonObject): readonly MetEval[] {
  if (!isObject(json)) return [];
  const found: MetEval[] = [];
  let looked = 0;
  const walk = (group: Json | undefined): void => {
    if (!isObject(group)) return;
    if (group['operator'] === undefined) {
      for (const key of ['evals', 'all', 'any']) {
        const items = group[key];
        if (Array.isArray(items)) for (const item of items) walk(item);
      }
      return;
    }
    looked += 1;
    const name = String(group['operator']);
    const leaf = parseLeaf(group['value'], '', () => {});
    const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
    if (leaf === undefined || operator === undefined || looked > maxEvals) return;
    const [value, test] = [findOperand(document, leaf.parts), operator(leaf.operand)];
    if (value === undefined || typeof test === 'string') return;
    const path = leaf.parts.join('.');
    found.push({ path, operator: name, operand: textOf(leaf.operand), value, isMet: test(value) });
  };
  walk(json['conditions'] ?? json['condition']);
  return found;
}

function textOf(operand: Operand): string {
  if (operand instanceof Pattern) return `/${operand.source}/${operand.options}`;
  if (operand instanceof Instant) return new Date(operand.ms).toISOString();
  return typeof operand === 'string' ? operand : JSON.stringify(operand);
}
