/** ExportTabularData: all readings of a method, oldest first. */
import { create } from '@bufbuild/protobuf';
import {
  type ExportTabularDataResponse,
  ExportTabularDataResponseSchema,
} from '@platform/proto/platform/app/data/v1/data';
import type { BsonDocument, Scope } from '@platform/query';
import type { AskRows } from './ask-rows.ts';
import type { Interval } from './interval.ts';
import { jsonOfDocument, type NonFinite } from './json-of-bson.ts';
import { type MethodKey, methodConditions } from './method-key.ts';
import { timestampOf } from './microseconds.ts';
import { orderedReadings } from './ordered-readings.ts';
import { documentOf, type Reading, tagsOf, textOf, timeOf } from './reading.ts';
import type { FleetNames } from './reading-conditions.ts';

/** Maximum number of rows in memory. */
const pageRows = 2_000;

export async function* exportReadings(
  ask: AskRows,
  scope: Scope,
  asked: MethodKey,
  interval: Interval,
  names: FleetNames,
  nonFinite: NonFinite,
): AsyncGenerator<ExportTabularDataResponse> {
  const conditions = methodConditions(asked);
  for await (const reading of orderedReadings(ask, { scope, conditions, ...interval, sign: 1, pageRows }))
    yield exported(reading, names, nonFinite);
}

/** Clients expect time, parameters and payload to be set. */
function exported({ captured, row }: Reading, names: FleetNames, nonFinite: NonFinite): ExportTabularDataResponse {
  const robotId = textOf(row, 'robot_id');
  const partId = textOf(row, 'part_id');
  return create(ExportTabularDataResponseSchema, {
    partId,
    resourceName: textOf(row, 'component_name'),
    resourceSubtype: textOf(row, 'component_type'),
    methodName: textOf(row, 'method_name'),
    timeCaptured: timestampOf(captured),
    ...timesOf(row),
    organizationId: textOf(row, 'organization_id'),
    locationId: textOf(row, 'location_id'),
    robotName: names.machineName(robotId),
    robotId,
    partName: names.partName(partId),
    methodParameters: jsonOfDocument(documentOf(row, 'additional_parameters'), nonFinite),
    tags: tagsOf(row),
    payload: jsonOfDocument(documentOf(row, 'data'), nonFinite),
  });
}

function timesOf(row: BsonDocument): Pick<ExportTabularDataResponse, 'timeRequested' | 'timeSynced'> {
  const [timeRequested, timeSynced] = [timeOf(row, 'time_requested'), timeOf(row, 'time_synced')];
  return { ...(timeRequested && { timeRequested }), ...(timeSynced && { timeSynced }) };
}
