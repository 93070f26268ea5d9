/**
 * Which message fields carry an API name, derived from the descriptors (D2).
 *
 * A field is in the table because of its name and type, never because of its value: attributes, logs, query text, models in other
 * namespaces, and maps with user-defined keys are excluded. A test lists the whole table, so that a person decides about each new `.proto`
 * field that matches a rule or looks as if it should.
 */
import type { DescField, DescMessage } from '@bufbuild/protobuf';

/**
 * How the field's text is spelled:
 * - `name`: `core:component:sensor`, `core:builtin:fake`, `core:component:sensor/s1`; other texts (short names) pass.
 * - `namespace`: the bare word `core`.
 * - `service`: a gRPC service or method, `platform.component.sensor.v1.SensorService`.
 */
export type Spelling = 'name' | 'namespace' | 'service';

/** The fields to translate in a message: its own, and those that lead to further ones. */
export interface FieldTable {
  readonly own: readonly { readonly field: DescField; readonly spelling: Spelling }[];
  readonly nested: readonly { readonly field: DescField; readonly message: DescMessage }[];
}

const spellingOfFieldName: ReadonlyMap<string, Spelling> = new Map([
  ['api', 'name'],
  ['model', 'name'],
  ['component_type', 'name'],
  ['resource_subtype', 'name'],
  ['depends_on', 'name'],
  ['namespace', 'namespace'],
  ['proto_service', 'service'],
]);

/** Fields that cannot be recognised by name alone. */
const spellingOfField: ReadonlyMap<string, Spelling> = new Map([
  ['platform.app.v1.ResourceLevelServiceConfig.type', 'name'],
  ['platform.module.v1.AddResourceRequest.dependencies', 'name'],
  ['platform.module.v1.HandlerDefinition.models', 'name'],
  ['platform.module.v1.ReconfigureResourceRequest.dependencies', 'name'],
  ['platform.module.v1.RemoveResourceRequest.name', 'name'],
  ['platform.module.v1.ValidateConfigResponse.dependencies', 'name'],
  ['platform.module.v1.ValidateConfigResponse.optional_dependencies', 'name'],
  ['platform.robot.v1.Operation.method', 'service'],
]);

/** How a field spells an API name; undefined if it carries none. */
export function spellingOf(field: DescField): Spelling | undefined {
  if (field.fieldKind !== 'scalar' && !(field.fieldKind === 'list' && field.listKind === 'scalar')) return undefined;
  // Only text (type 9 of the descriptor format) is a name; bytes and numbers never are.
  if (field.scalar !== 9) return undefined;
  if (!field.parent.typeName.startsWith('platform.')) return undefined;
  return spellingOfField.get(`${field.parent.typeName}.${field.name}`) ?? spellingOfFieldName.get(field.name);
}

const tables = new Map<DescMessage, FieldTable | undefined>();

/** The table of a message type; undefined when nothing in it, at any depth, carries an API name. */
export function fieldTable(message: DescMessage): FieldTable | undefined {
  if (!tables.has(message)) tables.set(message, leadsToName(message, new Set()) ? tableOf(message) : undefined);
  return tables.get(message);
}

/** Whether messages of the type are spelled differently for different peers, and so must be decoded to be passed on. */
export function carriesApiNames(message: DescMessage): boolean {
  return fieldTable(message) !== undefined;
}

function tableOf(message: DescMessage): FieldTable {
  const own = message.fields.flatMap((field) => {
    const spelling = spellingOf(field);
    return spelling === undefined ? [] : [{ field, spelling }];
  });
  const nested = message.fields.flatMap((field) => {
    const inner = messageOf(field);
    return inner !== undefined && leadsToName(inner, new Set()) ? [{ field, message: inner }] : [];
  });
  return { own, nested };
}

function leadsToName(message: DescMessage, seen: Set<DescMessage>): boolean {
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some((field) => {
    const inner = messageOf(field);
    return spellingOf(field) !== undefined || (inner !== undefined && leadsToName(inner, seen));
  });
}

function messageOf(field: DescField): DescMessage | undefined {
  if (field.fieldKind === 'message') return field.message;
  if (field.fieldKind === 'list' && field.listKind === 'message') return field.message;
  if (field.fieldKind === 'map' && field.mapKind === 'message') return field.message;
  return undefined;
}
