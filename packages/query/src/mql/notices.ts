/** Valid conditions that are probably mistakes: reported to users who ask how the query runs. */

import { BsonDocument, type Maybe } from '../bson/value.ts';
import { operators } from '../functions/registry.ts';
import { isTimeColumn } from '../plan/columns.ts';
import type { Expr } from '../plan/expr.ts';
import type { Plan, Stage } from '../plan/stage.ts';

/** Enough: no one reads the notices of a query with more conditions. */
const maxNotices = 20;

/** @returns for each condition of a $match that is unlikely to match: its position, why, and what to write instead. */
export function noticesOf({ stages }: Plan): string[] {
  const notices: string[] = [];
  for (const stage of stages) if (stage.k === 'filter') gather(stage.where, stage, notices);
  return notices.slice(0, maxNotices);
}

function gather(where: Expr, stage: Stage, notices: string[]): void {
  if (where.k === 'bind') gather(where.body, stage, notices);
  if (where.k !== 'call') return;
  const [subject, value] = where.args;
  const isComparison = /^match\.(eq|gte?|lte?)$/.test(where.fn);
  if (isComparison && subject?.k === 'field' && value?.k === 'lit' && subject.path.length > 0) {
    const notice = noticeOf(where.fn.slice('match.'.length), subject.path, value.value);
    if (notice !== undefined && stage.at !== undefined) {
      notices.push(`stage ${stage.at.stage} (${stage.at.stageName}) at ${where.at}: ${notice}`);
    }
  } else if (/^match\.(and|or|nor)$/.test(where.fn)) for (const arg of where.args) gather(arg, stage, notices);
}

function noticeOf(op: string, path: readonly string[], value: Maybe): string | undefined {
  const name = path.join('.');
  const operator = value instanceof BsonDocument && value.size === 1 ? [...value.keys()][0]! : '';
  if (operators.has(operator)) {
    return `{${operator}: …} is compared as a document here, not evaluated; write {$expr: {$${op}: ["$${name}", {${operator}: …}]}}`;
  }
  if (typeof value !== 'string') return undefined;
  if (value.startsWith('$$')) {
    return `'${value.slice(0, 80)}' is compared as a string here, not evaluated; write {$expr: {$${op}: ["$${name}", "${value.slice(0, 80)}"]}}`;
  }
  if (path.length > 1 || !isTimeColumn(name)) return undefined;
  return `${name} is a date and never matches a string; write {"$date": "${value.slice(0, 80)}"}, or {$expr: {$${op}: ["$${name}", {$toDate: "…"}]}}`;
}
