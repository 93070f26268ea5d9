/**
 * A plan as bytes, to cross to another process or thread: literals are class instances, which a structured clone or JSON would lose. The
 * bytes are BSON. Both ends run the same version, so the format need not be stable across versions.
 */

import { decodeBson } from '../bson/decode.ts';
import { encodeBson } from '../bson/encode.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../bson/value.ts';
import { reading } from '../query-error.ts';
import type { Plan } from './stage.ts';

/** One level of a query takes a few levels of the plan. */
const planDepth = 4000;

/** @throws QueryError Overflow if the plan is nested too deeply. */
export function encodePlan(plan: Plan): Uint8Array {
  return reading(() => {
    const document = new BsonDocument();
    document.set('plan', packed(plan)!);
    return encodeBson(document, planDepth);
  });
}

export function decodePlan(bytes: Uint8Array): Plan {
  return unpacked(decodeBson(bytes, 0, true, planDepth).get('plan')) as Plan;
}

/** Objects become documents; the value of a literal is unchanged. */
function packed(node: unknown): Maybe {
  if (Array.isArray(node)) return node.map((item) => packed(item) ?? null);
  if (typeof node !== 'object' || node === null) return node as Maybe;
  const entries = Object.entries(node);
  const isLiteral = 'k' in node && node.k === 'lit';
  return new BsonDocument(
    entries.flatMap(([name, below]): [string, BsonValue][] => {
      const value = isLiteral ? (below as Maybe) : packed(below);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function unpacked(value: Maybe): unknown {
  if (Array.isArray(value)) return value.map(unpacked);
  if (!(value instanceof BsonDocument)) return value;
  if (value.get('k') === 'lit') return { k: 'lit', value: value.get('value') };
  return Object.fromEntries([...value].map(([name, below]) => [name, unpacked(below)]));
}
