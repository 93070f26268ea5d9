/**
 * Chooses what DuckDB does with one sealed file for a query: the most that the file's facts prove equal to the executor's result.
 *
 * In order of preference: nothing, when no row can pass; the newest rows from the footer; the whole `pre` as one statement; the fields that
 * the executor reads, from columns; whole rows. Conditions are added wherever they are known.
 */
import { type FieldRead, fieldsRead, isReadOnce, type PlanSplit, refuseTooLarge } from '@platform/query';
import type { NotPushed } from '../../tabular.ts';
import { emitArrivals } from '../arrivals/emit-arrivals.ts';
import type { ScanRequest } from '../messages.ts';
import type { Condition } from './conditions/compare.ts';
import { type ConditionContext, conditionOf } from './conditions/condition.ts';
import { explainCondition, siteOf } from './conditions/explain-condition.ts';
import { rowConditions } from './conditions/row-conditions.ts';
import { Binds, no, type Sql, yes } from './conditions/sql.ts';
import { endName, explainEnd } from './explain-end.ts';
import { emitGroup } from './groups/emit-group.ts';
import { type FilterParts, filterParts } from './groups/facts-only.ts';
import { firstOfGroups } from './groups/first-of-groups.ts';
import { emitValueCounts } from './groups/value-counts.ts';
import type { OpenFile } from './open-files.ts';
import { emitKeys, type KeysEmission } from './order/emit-keys.ts';
import { topOf } from './order/emit-top.ts';
import { emitColumns, emitProjected, emitRows, type RowsOptions } from './rows/emit-rows.ts';
import { projectedRows } from './rows/project-rows.ts';
import { type Projection, projectionOf } from './rows/projection.ts';
import { RowCells } from './rows/row-cells.ts';
import { rowShape } from './rows/row-shape.ts';
import { isOfSeries } from './series/series-values.ts';
import type { Emission } from './statement.ts';

/** The parts of a split that are examined for each file. */
export interface Wanted extends FilterParts {
  readonly split: PlanSplit;
  /** The end of the split, if it is a projection that columns may answer. */
  readonly projection: Projection | undefined;
  /** Everything that the query reads of a row. */
  readonly fields: readonly FieldRead[] | 'all';
  /** The columns of these fields; undefined: all. */
  readonly columns: ReadonlySet<string> | undefined;
}

export function wantedOf(split: PlanSplit): Wanted {
  const { end } = split;
  const projection = end !== 'rows' && (end.k === 'shape' || end.k === 'replace') ? projectionOf(end) : undefined;
  const stages = [...split.pre, ...split.post];
  // A join, subquery or union reads other fields of the same rows.
  const fields = isReadOnce({ source: 'readings', stages }) ? fieldsRead(stages).fields : 'all';
  const columns = fields === 'all' ? undefined : new Set(fields.map(({ path: [column = ''] }) => column));
  return { split, ...filterParts(split), projection, fields, columns };
}

/** What DuckDB does with a file, and which parts of the query this covers, in the user's words. */
export interface Choice {
  readonly emission: Emission;
  readonly pushed: readonly string[];
  /** Parts left to the executor, and why. */
  readonly notPushed: () => readonly NotPushed[];
  readonly top?: TopChoice;
}

/** The two halves of a sort with a limit. */
export interface TopChoice {
  /** The sort keys of its rows without their documents, if columns contain them. */
  readonly keys: () => KeysEmission | undefined;
  /** The documents of rows selected by `pre` whose location is known. */
  readonly rowsAt: (where: Sql) => Emission;
}

/** The rows of a file that a query's filters keep. */
export interface KeptRows {
  /** Numbers of the series that have such rows. */
  readonly numbers: readonly number[];
  readonly where: readonly Sql[];
  /** Whether all rows of these series are kept. */
  readonly areWhole: boolean;
  /** Whether exactly these rows are kept; otherwise the executor filters again. */
  readonly isExact: boolean;
  /** Whether rows of these series may be excluded by their values. */
  readonly areChosen: boolean;
  readonly pushed: readonly string[];
  readonly context: ConditionContext;
}

/** Undefined: no row of the file passes. */
export function keptRows(file: OpenFile, { parts, sure }: Wanted, request: ScanRequest): KeptRows | undefined {
  const binds = new Binds();
  const context: ConditionContext = { facts: file.facts, values: file.values, binds };
  let numbers = file.wanted;
  let isExact = sure === parts.length;
  const conditions: Condition[] = [];
  const pushed: string[] = [];
  for (const part of parts.slice(0, sure)) {
    if (isOfSeries(part)) {
      const keeps = file.values.keeps(part);
      // The condition fails for a series of this file, so later conditions must not exclude rows.
      if (keeps === undefined) {
        isExact = false;
        break;
      }
      numbers = numbers.filter((number) => keeps[number]);
      pushed.push(siteOf(part, '$match'));
      continue;
    }
    const condition = conditionOf(part, context);
    if (condition.sql === no) return undefined;
    if (!condition.exact) isExact = false;
    if (condition.sql !== yes) pushed.push(siteOf(part, '$match'));
    conditions.push(condition);
  }
  if (numbers.length === 0) return undefined;
  const [ofSeries = yes, ...ofRows] = rowConditions(file, numbers, request, binds);
  const areChosen = conditions.some(({ sql }) => sql !== yes);
  return {
    numbers,
    where: [ofSeries, ...ofRows, ...conditions.map(({ sql }) => sql)],
    areWhole: isExact && ofRows.length === 0 && !areChosen,
    isExact,
    areChosen,
    pushed,
    context,
  };
}

/** Chooses for a file that has matching rows. */
export function chooseFor(file: OpenFile, kept: KeptRows, wanted: Wanted, request: ScanRequest): Choice {
  const { split, fields } = wanted;
  const { where, isExact, areChosen, pushed, context } = kept;
  const { binds } = context;
  const left = (): readonly NotPushed[] => [
    ...explainFilter(wanted, context),
    ...explainEnd(split.end, context, isExact),
  ];
  const { vocabulary } = request;
  const { end } = split;
  if (isExact && end !== 'rows' && end.k === 'group') {
    const group = emitValueCounts(end, context, where) ?? emitGroup(end, context, where, binds);
    if (group !== undefined) return { emission: group, pushed: [...pushed, '$group'], notPushed: () => [] };
  }
  const among =
    isExact && end !== 'rows' && end.k === 'group' ? firstOfGroups(end, context, where, vocabulary) : undefined;
  const isTop = isExact && end !== 'rows' && end.k === 'sort';
  const top = isTop ? topOf(end, context, vocabulary) : undefined;
  const gathered = among === undefined && areChosen && !endsEarly(split) ? file.facts : undefined;
  const options: RowsOptions = {
    where,
    binds,
    vocabulary,
    ...(gathered && { gathered }),
    ...(top !== undefined && { top }),
    ...(among !== undefined && { among }),
  };
  const projected = isExact ? projectedBy(wanted, file, options) : undefined;
  if (projected !== undefined) return { ...projected, pushed: [...pushed, ...projected.pushed] };
  const shape = fields === 'all' ? undefined : rowShape(fields, file.facts);
  const ends = top !== undefined ? ['$sort', '$limit'] : among !== undefined ? ['$group'] : [];
  const emit = (of: RowsOptions): Emission => (shape === undefined ? emitRows(of) : emitColumns(shape, of));
  const ofTop = isTop &&
    top !== undefined && {
      keys: () => emitKeys(end, file.facts, options),
      rowsAt: (at: Sql): Emission => ({ ...emit({ where: [at], binds: new Binds(), vocabulary }), done: true }),
    };
  return {
    emission: emit(options),
    pushed: [...pushed, ...ends],
    notPushed: ends.length === 0 ? left : () => [],
    ...(ofTop && { top: ofTop }),
  };
}

/** Conditions that SQL does not decide. A condition that can fail, and those after it, exclude no rows. */
function explainFilter({ parts, sure }: Wanted, context: ConditionContext): readonly NotPushed[] {
  return parts.flatMap((part, index): readonly NotPushed[] => {
    const at = siteOf(part, '$match');
    if (index < sure) return [explainCondition(part, context, at) ?? []].flat();
    const isFirst = index === sure;
    const why = isFirst ? 'it can fail for a row or is too large' : 'a condition before it can fail for a row';
    return [{ part: at, why }];
  });
}

function projectedBy({ split: { end }, projection }: Wanted, file: OpenFile, options: RowsOptions): Choice | undefined {
  if (projection === undefined || end === 'rows') return undefined;
  const cells = new RowCells();
  const rows = projectedRows(projection, file, cells);
  if (rows === undefined) return undefined;
  const check = (document: Uint8Array): void => refuseTooLarge(document, end);
  const emission = emitProjected(rows, cells, options, projection.isBuilt ? check : undefined);
  return { emission, pushed: [endName(end)], notPushed: () => [] };
}

/** Whether the rest of the plan needs only its first input rows. */
function endsEarly({ post }: PlanSplit): boolean {
  const limit = post.findIndex((stage) => stage.k === 'slice' && stage.limit !== undefined);
  return limit >= 0 && post.slice(0, limit).every(({ k }) => k !== 'sort' && k !== 'group' && k !== 'merge');
}

/** All rows of the wanted series and times: used when nothing is pushed down. Undefined: no row is wanted. */
export function wholeRows(file: OpenFile, request: ScanRequest): Emission | undefined {
  if (request.arrivals !== undefined) return emitArrivals(file, request, request.arrivals);
  const binds = new Binds();
  const where = rowConditions(file, file.wanted, request, binds);
  const { vocabulary, exactTimes = false } = request;
  return emitRows({ where, binds, vocabulary, exactTimes });
}
