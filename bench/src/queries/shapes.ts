/** Pipelines typical of dashboards and notebooks; a seed chooses the query and its field. */
import { seededRandom } from '@platform/testkit';
import { componentName, startMs } from './readings.ts';

type Stages = readonly Record<string, unknown>[];
export interface Shape {
  readonly name: string;
  readonly stages: Stages;
}

const numbers = ['temperature', 'humidity', 'pressure'] as const;

export function drawShapes(seed: number): Shape[] {
  const random = seededRandom(seed);
  const int = (below: number): number => Math.floor(random() * below);
  const pick = <T>(from: readonly T[]): T => from[int(from.length)] as T;
  const field = (): string => `data.readings.${pick(numbers)}`;
  const component = (): string => componentName(int(1_000));
  const from = new Date(startMs + int(4) * 86_400_000);
  const to = new Date(from.getTime() + 86_400_000);
  const aDay = { $match: { time_received: { $gte: from, $lt: to } } };
  const one = { $match: { component_name: component() } };
  const fold = pick(['$avg', '$min', '$max', '$sum']);
  return [
    { name: 'count of all', stages: [{ $count: 'n' }] },
    {
      name: `${fold} by component of a day`,
      stages: [aDay, { $group: { _id: '$component_name', v: { [fold]: `$${field()}` } } }],
    },
    {
      name: `hourly ${fold} of one component`,
      stages: [
        one,
        { $group: { _id: { $dateTrunc: { date: '$time_received', unit: 'hour' } }, v: { [fold]: `$${field()}` } } },
        { $sort: { _id: 1 } },
      ],
    },
    { name: 'rows of one component of a day', stages: [one, aDay] },
    { name: 'last 100 of one component', stages: [one, { $sort: { time_received: -1 } }, { $limit: 100 }] },
    {
      name: 'count by state',
      stages: [{ $group: { _id: '$data.readings.state', n: { $sum: 1 } } }, { $sort: { n: -1 } }],
    },
    {
      name: 'faults of a machine',
      stages: [
        { $match: { robot_id: `robot-${int(50)}`, 'data.readings.state': 'fault' } },
        { $project: { _id: 0, component_name: 1, time_received: 1 } },
      ],
    },
    {
      name: 'ten greatest of all',
      stages: [{ $sort: { [field()]: -1 } }, { $limit: 10 }, { $project: { component_name: 1, data: 1 } }],
    },
    {
      name: 'daily share of open doors',
      stages: [
        { $group: { _id: '$capture_day', open: { $sum: { $cond: ['$data.readings.door', 1, 0] } }, n: { $sum: 1 } } },
        { $sort: { _id: 1 } },
      ],
    },
    {
      name: 'buckets of a day',
      stages: [
        aDay,
        {
          $bucket: { groupBy: '$data.readings.temperature', boundaries: [0, 15, 18, 20, 22, 25, 40], default: 'other' },
        },
      ],
    },
    {
      name: 'moving average of one component of a day',
      stages: [
        one,
        aDay,
        {
          $setWindowFields: {
            sortBy: { time_received: 1 },
            output: { v: { $avg: `$${field()}`, window: { documents: [-10, 0] } } },
          },
        },
      ],
    },
    {
      name: 'quantiles of one component',
      stages: [
        one,
        {
          $group: {
            _id: null,
            p: { $percentile: { input: `$${field()}`, p: [0.5, 0.9, 0.99], method: 'approximate' } },
          },
        },
      ],
    },
  ];
}
