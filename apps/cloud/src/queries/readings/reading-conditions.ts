/** Converts filters from requests to conditions for $match: all fields must match, and any value of a list. */
import { invalidArgument } from '@platform/base';
import { type Filter, type TagsFilter, TagsFilterType } from '@platform/proto/platform/app/data/v1/data';
import { BsonDocument } from '@platform/query';
import { tagCondition, type WantedTags } from '../../tabular/query/tag-condition.ts';
import { typesNamed } from '../../text-rules/types-named.ts';

/** The current names of machines and parts. */
export interface FleetNames {
  machineName(machineId: string): string;
  partName(partId: string): string;
  machinesNamed(name: string): readonly string[];
  partsNamed(name: string): readonly string[];
}

/** Undefined if no reading can match. @throws invalid_argument */
export function readingConditions(filter: Filter | undefined, names: FleetNames): BsonDocument | undefined {
  const conditions = new BsonDocument();
  if (filter === undefined) return conditions;
  // Readings have no media type and no bounding boxes, and belong to no dataset.
  if (filter.mimeType.length > 0 || filter.bboxLabels.length > 0 || filter.datasetId !== '') return undefined;
  const among = (column: string, ...lists: (readonly string[] | undefined)[]): void => {
    const given = lists.filter((list) => list !== undefined);
    const [first = [], ...others] = given;
    if (given.length === 0) return;
    const all = first.filter((value) => others.every((list) => list.includes(value)));
    conditions.set(column, BsonDocument.of({ $in: all }));
  };
  const one = (text: string): readonly string[] | undefined => (text === '' ? undefined : [text]);
  const named = (name: string, find: (name: string) => readonly string[]): readonly string[] | undefined =>
    name === '' ? undefined : find(name);
  among('location_id', filter.locationIds.length === 0 ? undefined : filter.locationIds);
  among('robot_id', one(filter.robotId), named(filter.robotName, names.machinesNamed));
  among('part_id', one(filter.partId), named(filter.partName, names.partsNamed));
  among('component_type', filter.componentType === '' ? undefined : typesNamed(filter.componentType));
  among('component_name', one(filter.componentName));
  among('method_name', one(filter.method));
  const tags = wantedTags(filter.tagsFilter);
  if (tags !== undefined) conditions.set(...tagCondition(tags));
  return conditions;
}

/** Undefined: any tags. @throws invalid_argument */
export function wantedTags(filter: TagsFilter | undefined): WantedTags | undefined {
  if (filter === undefined) return undefined;
  switch (filter.type) {
    case TagsFilterType.TAGGED:
      return 'some';
    case TagsFilterType.UNTAGGED:
      return 'none';
    case TagsFilterType.UNSPECIFIED:
    case TagsFilterType.MATCH_BY_OR:
      return filter.tags.length === 0 ? undefined : filter.tags;
    default:
      throw invalidArgument(
        `tags_filter.type: expected TAGS_FILTER_TYPE_MATCH_BY_OR, …_TAGGED or …_UNTAGGED, found ${filter.type}`,
      );
  }
}
