/** The selection of ExportTabularData and GetLatestTabularData: one method of one resource of a part, within what the caller may read. */
import type { JsonObject } from '@bufbuild/protobuf';
import { invalidArgument } from '@platform/base';
import { BsonDocument, type BsonValue, type Scope } from '@platform/query';
import type { Access } from '../../access/authorize.ts';
import type { Principal } from '../../access/principal.ts';
import { typesNamed } from '../../text-rules/types-named.ts';

export interface MethodKey {
  readonly partId: string;
  readonly resourceName: string;
  /** API name. */
  readonly resourceSubtype: string;
  readonly methodName: string;
  readonly additionalParameters?: JsonObject | undefined;
}

/**
 * The part's rows in places where the caller has a role; for the part itself, its own rows.
 *
 * @throws not_found, permission_denied
 */
export function scopeOfPart(
  access: Pick<Access, 'authorize' | 'scopeIn'>,
  principal: Principal,
  partId: string,
): Scope {
  const { organizationId, robotId } = access.authorize(principal, 'part.read', partId);
  if (principal.kind !== 'part') return access.scopeIn(principal, organizationId);
  return { organizationId, locationIds: [], robotIds: robotId === undefined ? [] : [robotId] };
}

/** @throws invalid_argument if a required name is missing */
export function methodConditions(asked: MethodKey): BsonDocument {
  const named = {
    part_id: asked.partId,
    component_type: oneOf(typesNamed(required('resource_subtype', asked.resourceSubtype))),
    component_name: required('resource_name', asked.resourceName),
    method_name: required('method_name', asked.methodName),
  };
  const conditions = BsonDocument.of(named);
  const parameters = Object.entries(asked.additionalParameters ?? {});
  if (parameters.length === 0) return conditions;
  // Use $getField, because a name may contain a dot or begin with a dollar sign, and $eq, because an array is a value here, not a list of
  // choices.
  const equal = parameters.map(([name, value]) => {
    const stored = BsonDocument.of({ field: literal(name), input: '$additional_parameters' });
    return BsonDocument.of({ $eq: [BsonDocument.of({ $getField: stored }), literal(sortedBson(value))] });
  });
  return conditions.set('$expr', BsonDocument.of({ $and: equal }));
}

/** Comparing with a single value is cheaper than with a list. */
function oneOf(values: readonly string[]): BsonValue {
  const [only, ...others] = values;
  return only !== undefined && others.length === 0 ? only : BsonDocument.of({ $in: [...values] });
}

function literal(value: BsonValue): BsonDocument {
  return BsonDocument.of({ $literal: value });
}

function required(field: string, text: string): string {
  if (text !== '') return text;
  throw invalidArgument(`${field}: expected a name, found none`);
}

/** Parameters in their stored form: objects sorted by name. */
function sortedBson(value: JsonObject[string]): BsonValue {
  if (Array.isArray(value)) return value.map(sortedBson);
  if (typeof value !== 'object' || value === null) return value;
  const names = Object.keys(value).sort();
  return new BsonDocument(names.map((name) => [name, sortedBson(value[name] ?? null)]));
}
