/**
 * The attributes of each built-in model of this version of the machine-server, by API and model: as JSON Schema with descriptions, and as
 * names. A test of the machine-server keeps them in step with its models.
 */
import schemas from './built-in-models.schema.json' with { type: 'json' };

/** The part of JSON Schema that describes attributes. */
export interface AttributeSchema {
  /** Absent: any. */
  readonly type?: 'array' | 'boolean' | 'integer' | 'number' | 'object' | 'string';
  readonly description?: string;
  readonly default?: boolean | number | string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly enum?: readonly (number | string)[];
  readonly examples?: readonly unknown[];
  readonly items?: AttributeSchema;
  readonly properties?: Readonly<Record<string, AttributeSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | AttributeSchema;
}

/** The schema of the attributes of each model. */
export const builtInSchemas: Readonly<Record<string, Readonly<Record<string, AttributeSchema>>>> = schemas as never;

/** The names of the attributes of each model; those of nested objects as `pins.a`. */
export const builtInAttributes: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> =
  Object.fromEntries(
    Object.entries(builtInSchemas).map(([api, models]) => [
      api,
      Object.fromEntries(Object.entries(models).map(([model, schema]) => [model, namesOf(schema)])),
    ]),
  );

function namesOf({ properties = {} }: AttributeSchema): readonly string[] {
  return Object.entries(properties).flatMap(([name, schema]) =>
    schema.properties === undefined ? [name] : namesOf(schema).map((nested) => `${name}.${nested}`),
  );
}
