/** Random SQL statements. */
import type { Random } from './random.ts';
import { leaves, texts } from './random-document.ts';
import { components, timesMs } from './random-world.ts';

export function randomStatement(random: Random): { readonly statement: string; readonly pushable: boolean } {
  const where = random.chance(0.7)
    ? ` WHERE ${random.list(1, 3, () => condition(random)).join(random.pick([' AND ', ' AND ', ' OR ']))}`
    : '';
  if (random.chance(0.15)) return { statement: odd(random, where), pushable: false };
  const body = random.chance(0.6) ? grouped(random, where) : plain(random, where);
  // A query for whole rows by path and time has nothing more to push down.
  return { statement: body, pushable: !body.startsWith('SELECT *') || where.includes('data.') };
}

function grouped(random: Random, where: string): string {
  const parts = ['DATETRUNC(HOUR, time_received)', 'EXTRACT(MINUTE FROM time_requested)', 'DAYOFWEEK(time_synced)'];
  const key = random.pick(['component_name', 'robot_id', 'capture_day', leaf(random), random.pick(parts), undefined]);
  const folds = random.list(1, 3, () =>
    random.pick([
      'count(*)',
      `count(${leaf(random)})`,
      `count(DISTINCT ${random.pick([leaf(random), 'component_name', 'time_received'])})`,
      `sum(DISTINCT ${leaf(random)})`,
      `sum(${leaf(random)})`,
      `avg(${leaf(random)})`,
      `min(${leaf(random)})`,
      'max(time_received)',
      `sum(CASE WHEN ${condition(random)} THEN ${random.pick(['1', '0.5', leaf(random)])} ELSE 0 END)`,
      `count(CASE WHEN ${condition(random)} THEN 1 END)`,
    ]),
  );
  const selected = [...(key === undefined ? [] : [`${key} AS k`]), ...folds.map((fold, n) => `${fold} AS v${n}`)];
  const group = key === undefined ? '' : ` GROUP BY ${key}`;
  const having = random.chance(0.1) && key !== undefined ? ' HAVING count(*) > 2' : '';
  const order =
    random.chance(0.4) && key !== undefined ? ` ORDER BY k${random.pick(['', ' DESC'])}${limit(random)}` : '';
  return `SELECT ${selected.join(', ')} FROM readings${where}${group}${having}${order}`;
}

function plain(random: Random, where: string): string {
  const selected = random.pick([
    '*',
    `component_name, ${leaf(random)} AS v`,
    `time_received, ${leaf(random)} AS v, ${leaf(random)} AS w`,
    `VALUE {'v': ${leaf(random)}}`,
    `VALUE {'v': ${leaf(random)}, 'of': {'part': part_id, 'data': data.readings, 'one': 1}}`,
    'capture_day, data, data.readings, tags, time_synced AS at',
  ]);
  const order = random.chance(0.4) ? ` ORDER BY time_received${random.pick(['', ' DESC'])}, component_name` : '';
  return `SELECT ${selected} FROM readings${where}${order}${order === '' ? '' : limit(random)}`;
}

function odd(random: Random, where: string): string {
  return random.pick([
    `SELECT DISTINCT ${leaf(random)} AS v FROM readings${where}`,
    `SELECT component_name, CAST(${leaf(random)} AS STRING NULL ON ERROR) AS v FROM readings${where}`,
    `SELECT CASE WHEN ${leaf(random)} > 2 THEN 'high' ELSE 'low' END AS v, count(*) AS n FROM readings${where} GROUP BY CASE WHEN ${leaf(random)} > 2 THEN 'high' ELSE 'low' END`,
    `SELECT * FROM UNWIND(readings WITH PATH => data.readings.list, INDEX => at)${where}`,
    `SELECT a.component_name, count(*) AS n FROM readings a JOIN readings b ON a.component_name = b.component_name AND a.time_received = b.time_received GROUP BY a.component_name`,
    `SELECT component_name AS c FROM readings${where} UNION SELECT robot_id AS c FROM readings`,
    `SELECT component_name FROM readings WHERE ${leaf(random)} > (SELECT avg(data.readings.t) AS m FROM readings${where})`,
  ]);
}

function condition(random: Random): string {
  const time = (): string => `CAST('${new Date(Math.trunc(random.pick(timesMs))).toISOString()}' AS TIMESTAMP)`;
  switch (random.int(7)) {
    case 0:
      return `component_name = '${random.pick(components)}'`;
    case 1:
      return `time_received BETWEEN ${time()} AND ${time()}`;
    case 2:
      return `component_name IN ('cpu', '${random.pick(components)}')`;
    case 3:
      return `${leaf(random)} IS ${random.pick(['NULL', 'NOT NULL', 'MISSING', 'NUMBER'])}`;
    case 4:
      return `${leaf(random)} = '${random.pick(texts)}'`;
    case 5:
      return `NOT ${leaf(random)} < ${random.int(20)}`;
    default:
      return `${leaf(random)} ${random.pick(['>', '>=', '<', '<=', '<>', '='])} ${random.pick([random.int(20), random.int(40) / 4 + 0.125])}`;
  }
}

function leaf(random: Random): string {
  const names = random.pick(random.chance(0.7) ? leaves.slice(0, 5) : leaves).split('.');
  return ['data', 'readings', ...names].map((name) => (/^[a-z]+$/.test(name) ? name : `\`${name}\``)).join('.');
}

function limit(random: Random): string {
  return random.chance(0.5) ? ` LIMIT ${1 + random.int(10)}` : '';
}
