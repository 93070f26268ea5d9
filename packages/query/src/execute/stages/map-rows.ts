/** Stages that turn each row into a new one, over chunks of rows. */

import { typeName } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import type { ReplaceStage, RowStage, ShapeStage, ShapeTree } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { inStage } from '../error-stage.ts';
import { compileExpression } from '../expressions/expression.ts';
import { type Evaluate, enterRow, type Frame } from '../expressions/scope.ts';
import { withinSizeLimits } from '../limits/size-limits.ts';
import type { Row } from '../row.ts';

/** A chunk that has grown beyond this is passed on before it is full, because chunks do not count against the budget. */
const chunkBytes = 8 * 1024 * 1024;

/** @throws what the stage throws, now and over rows, with its position */
export function compileRowMap(stage: RowStage, frame: Frame): (rows: Row[]) => Iterable<Row[]> {
  const change = inStage(stage, () => (stage.k === 'shape' ? compileShape(stage) : compileReplace(stage)));
  return function* mapRows(rows) {
    let chunk: Row[] = [];
    let bytes = 0;
    const fill = (from: number): number => {
      for (let index = from; index < rows.length; index++) {
        const { document, near } = rows[index]!;
        enterRow(frame, document, near);
        chunk.push(near === undefined ? { document: change(frame) } : { document: change(frame), near });
        bytes += frame.builtBytes;
        if (bytes >= chunkBytes) return index + 1;
      }
      return rows.length;
    };
    for (let next = 0; next < rows.length; ) {
      const from = next;
      next = inStage(stage, () => fill(from));
      yield chunk;
      chunk = [];
      bytes = 0;
    }
  };
}

/** Replaces a row by the document that an expression gives. */
function compileReplace(stage: ReplaceStage): (frame: Frame) => BsonDocument {
  const evaluate = compileExpression(stage.with);
  return (frame) => {
    const value = evaluate(frame);
    if (value instanceof BsonDocument) return value;
    throw new QueryError(40228, `the new root must be an object, found ${typeName(value)}`, {
      hint: 'use $mergeObjects or $ifNull where the value may be missing',
    });
  };
}

interface Node {
  /** Fields to keep (include) or to remove (exclude). */
  readonly marked: ReadonlySet<string>;
  readonly below: ReadonlyMap<string, Node>;
  /** Computed fields and subtrees that contain some, in the order written. */
  readonly computed: readonly (readonly [string, Evaluate | Node])[];
}

/** $project, $addFields and $unset over a row. */
function compileShape(stage: ShapeStage): (frame: Frame) => BsonDocument {
  const node = compileNode(stage.tree);
  const keepOthers = stage.mode !== 'include';
  return (frame) => {
    const root = frame.root instanceof BsonDocument ? frame.root : new BsonDocument();
    const shaped = stage.mode === 'set' ? new BsonDocument(root) : project(root, node, keepOthers);
    if (node.computed.length > 0) withinSizeLimits(frame, compute(shaped, node, frame));
    return stage.inOrder === true ? inOrder(shaped, stage.tree) : shaped;
  };
}

function inOrder(document: BsonDocument, tree: ShapeTree): BsonDocument {
  const ordered = new BsonDocument();
  for (const name of ['_id', ...tree.fields.map(([field]) => field)]) {
    const value = document.get(name);
    if (value !== undefined) ordered.set(name, value);
  }
  return ordered;
}

function compileNode(tree: ShapeTree): Node {
  const marked = new Set<string>();
  const below = new Map<string, Node>();
  const computed: [string, Evaluate | Node][] = [];
  for (const [name, part] of tree.fields) {
    if (part.k === 'set') computed.push([name, compileExpression(part.value)]);
    else if (part.k === 'tree') {
      const node = compileNode(part);
      below.set(name, node);
      if (node.computed.length > 0) computed.push([name, node]);
    } else marked.add(name);
  }
  return { marked, below, computed };
}

/** Fields stay in the order of the row. */
function project(document: BsonDocument, node: Node, keepOthers: boolean): BsonDocument {
  const result = new BsonDocument();
  for (const [name, value] of document) {
    if (node.marked.has(name)) {
      if (!keepOthers) result.set(name, value);
      continue;
    }
    const below = node.below.get(name);
    const kept = below === undefined ? (keepOthers ? value : undefined) : projectValue(value, below, keepOthers);
    if (kept !== undefined) result.set(name, kept);
  }
  return result;
}

function projectValue(value: BsonValue, node: Node, keepOthers: boolean): Maybe {
  if (value instanceof BsonDocument) return project(value, node, keepOthers);
  if (!Array.isArray(value)) return keepOthers ? value : undefined;
  // An element without kept fields still gets the computed ones.
  const none = node.computed.length > 0 ? new BsonDocument() : undefined;
  return value.map((item) => projectValue(item, node, keepOthers) ?? none).filter((item) => item !== undefined);
}

function compute(document: BsonDocument, node: Node, frame: Frame): BsonDocument {
  for (const [name, part] of node.computed) {
    const value = typeof part === 'function' ? part(frame) : computeValue(document.get(name), part, frame);
    if (value === undefined) document.delete(name);
    else document.set(name, value);
  }
  return document;
}

/** Below an array, each element gets the computed fields; a non-object is replaced by an object. */
function computeValue(value: Maybe, node: Node, frame: Frame): BsonValue {
  if (Array.isArray(value)) return value.map((item) => computeValue(item, node, frame));
  return compute(value instanceof BsonDocument ? new BsonDocument(value) : new BsonDocument(), node, frame);
}
