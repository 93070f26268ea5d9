/**
 * Typical dashboard queries of a fleet: 100 parts with ten sensors each. Each in both languages, if both can express it, and for DuckDB.
 */
import type { Series } from '../queries/fill.ts';

type Stages = readonly Record<string, unknown>[];

interface Question {
  readonly name: string;
  readonly mql: Stages;
  /** For typed columns. */
  readonly peer: string;
  readonly sql?: string;
  /** Set if the SQL statement differs in meaning from the pipeline. */
  readonly sqlPeer?: string;
}

export const partCount = 100;

/** Series 0 to 999: part 0 to 99, sensor 0 to 9. */
export function seriesOfFleet(index: number): Series {
  return { robot: `robot-${index % partCount}`, component: sensorOf(index) };
}

export function sensorOf(index: number): string {
  return `sensor-${Math.floor(index / partCount)}`;
}

/** Fewer than one reading in 100 is warmer. */
const warm = 28.6;
const one = 'sensor-3';
const t = '$data.readings.temperature';
const minute = { $dateTrunc: { date: '$time_received', unit: 'minute' } };

/** By component and part: `group` and `per minute` are the queries that run in turns under load. */
const questions: readonly Question[] = [
  {
    name: 'group',
    mql: [
      { $match: { component_name: one } },
      { $group: { _id: '$part_id', average: { $avg: t }, least: { $min: t }, most: { $max: t } } },
    ],
    sql: `SELECT part_id, AVG(data.readings.temperature) AS a, MIN(data.readings.temperature) AS b, MAX(data.readings.temperature) AS c FROM readings WHERE component_name = '${one}' GROUP BY part_id`,
    peer: `SELECT part, avg(temperature), min(temperature), max(temperature) FROM readings WHERE component_name = '${one}' GROUP BY part`,
  },
  {
    name: '1 % filter',
    mql: [
      { $match: { 'data.readings.temperature': { $gt: warm } } },
      { $project: { _id: 0, component_name: 1, time_received: 1, temperature: t } },
    ],
    sql: `SELECT component_name, time_received, data.readings.temperature AS temperature FROM readings WHERE data.readings.temperature > ${warm}`,
    peer: `SELECT component_name, time_received, temperature FROM readings WHERE temperature > ${warm}`,
  },
  {
    name: 'newest of 100',
    mql: [
      { $match: { component_name: one } },
      { $sort: { time_received: -1 } },
      { $group: { _id: '$part_id', newest: { $first: '$$ROOT' } } },
    ],
    peer: `SELECT part, max_by(readings, time_received) FROM readings WHERE component_name = '${one}' GROUP BY part`,
    sql: `SELECT part_id, MAX(time_received) AS newest FROM readings WHERE component_name = '${one}' GROUP BY part_id`,
    sqlPeer: `SELECT part, max(time_received) FROM readings WHERE component_name = '${one}' GROUP BY part`,
  },
  {
    name: 'newest of 1,000',
    mql: [
      { $sort: { time_received: -1 } },
      { $group: { _id: { part: '$part_id', component: '$component_name' }, newest: { $first: '$$ROOT' } } },
    ],
    peer: 'SELECT part, component_name, max_by(readings, time_received) FROM readings GROUP BY part, component_name',
    sql: 'SELECT part_id, component_name, MAX(time_received) AS newest FROM readings GROUP BY part_id, component_name',
    sqlPeer: 'SELECT part, component_name, max(time_received) FROM readings GROUP BY part, component_name',
  },
  {
    name: 'per minute',
    mql: [{ $group: { _id: minute, average: { $avg: t } } }],
    sql: 'SELECT DATETRUNC(MINUTE, time_received) AS m, AVG(data.readings.temperature) AS a FROM readings GROUP BY DATETRUNC(MINUTE, time_received)',
    peer: "SELECT date_trunc('minute', time_received) AS m, avg(temperature) FROM readings GROUP BY m",
  },
  {
    name: 'count',
    mql: [{ $count: 'n' }],
    sql: 'SELECT COUNT(*) AS n FROM readings',
    peer: 'SELECT count(*) AS n FROM readings',
  },
  {
    name: 'top 10',
    mql: [
      { $sort: { 'data.readings.temperature': -1 } },
      { $limit: 10 },
      { $project: { _id: 0, component_name: 1, time_received: 1, temperature: t } },
    ],
    sql: 'SELECT component_name, time_received, data.readings.temperature AS temperature FROM readings ORDER BY data.readings.temperature DESC LIMIT 10',
    peer: 'SELECT component_name, time_received, temperature FROM readings ORDER BY temperature DESC LIMIT 10',
  },
  {
    name: 'count distinct',
    mql: [
      { $group: { _id: '$data.readings.state', parts: { $addToSet: '$part_id' } } },
      { $project: { n: { $size: '$parts' } } },
    ],
    sql: 'SELECT data.readings.state AS s, COUNT(DISTINCT part_id) AS n FROM readings GROUP BY data.readings.state',
    peer: 'SELECT state, count(DISTINCT part) FROM readings GROUP BY state',
  },
  {
    name: 'median',
    mql: [{ $group: { _id: '$component_name', median: { $median: { input: t, method: 'approximate' } } } }],
    peer: 'SELECT component_name, quantile_disc(temperature, 0.5) FROM readings GROUP BY component_name',
  },
];

export interface Asked {
  /** For example `group, MQL`. */
  readonly name: string;
  readonly question: Question;
  readonly language: 'MQL' | 'SQL';
  readonly peer: string;
}

/** Each query in each language that can express it. */
export const asked: readonly Asked[] = questions.flatMap((question) => {
  const { name, sql, peer, sqlPeer = peer } = question;
  const mql: Asked = { name: `${name}, MQL`, question, language: 'MQL', peer };
  return sql === undefined ? [mql] : [mql, { name: `${name}, SQL`, question, language: 'SQL', peer: sqlPeer }];
});
