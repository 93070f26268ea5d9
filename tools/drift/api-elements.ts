/**
 * What an API is to its clients, as a flat list: each service, method, message, field, enum and value by its full name, with a line that says
 * what must not change about it. Two APIs are equal for clients if their lists are.
 */
import { isFieldSet } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  type MethodDescriptorProto,
  type ServiceDescriptorProto,
} from '@bufbuild/protobuf/wkt';

interface ApiElement {
  /** What must not change about it. */
  readonly line: string;
  /** Full names of the messages and enums that it uses. */
  readonly uses: readonly string[];
}

/** By full name without a leading dot: `viam.app.v1.Part.name`. */
export type ApiElements = ReadonlyMap<string, ApiElement>;

/** Number of the method option `safety_heartbeat_monitored`: such a method ends with the session of its caller. */
const monitoredOption = 84260;

/** @param rename the name under which an element is listed and referred to */
export function apiElements(
  files: readonly FileDescriptorProto[],
  rename: (fullName: string) => string = (name) => name,
): ApiElements {
  const elements = new Map<string, ApiElement>();
  const add: Add = (name, line, uses = []) => {
    elements.set(rename(name), { line, uses });
  };
  const typeName = (name: string): string => rename(name.replace(/^\./, ''));
  for (const file of files) {
    for (const service of file.service) addService(add, typeName, file.package, service);
    for (const message of file.messageType) addMessage(add, typeName, file.package, message);
    for (const one of file.enumType) addEnum(add, file.package, one);
  }
  return elements;
}

type Add = (name: string, line: string, uses?: readonly string[]) => void;
type TypeName = (name: string) => string;

function addService(add: Add, typeName: TypeName, scope: string, service: ServiceDescriptorProto): void {
  add(`${scope}.${service.name}`, 'service');
  for (const method of service.method) {
    const uses = [typeName(method.inputType), typeName(method.outputType)];
    add(`${scope}.${service.name}.${method.name}`, methodLine(uses, method), uses);
  }
}

function methodLine([input, output]: readonly string[], method: MethodDescriptorProto): string {
  const request = `${method.clientStreaming ? 'stream ' : ''}${input}`;
  const answer = `${method.serverStreaming ? 'stream ' : ''}${output}`;
  // An extension whose code is not loaded is an unknown field.
  const isMonitored = method.options?.$unknown?.some(({ no, data }) => no === monitoredOption && data[0] === 1);
  return `rpc (${request}) returns (${answer})${isMonitored === true ? ', ends with the session' : ''}`;
}

function addMessage(add: Add, typeName: TypeName, scope: string, message: DescriptorProto): void {
  const name = `${scope}.${message.name}`;
  add(name, message.options?.mapEntry === true ? 'entry of a map' : 'message');
  for (const field of message.field) {
    const uses = field.typeName === '' ? [] : [typeName(field.typeName)];
    add(`${name}.${field.name}`, fieldLine(uses[0], message, field), uses);
  }
  for (const nested of message.nestedType) addMessage(add, typeName, name, nested);
  for (const nested of message.enumType) addEnum(add, name, nested);
}

function fieldLine(used: string | undefined, message: DescriptorProto, field: FieldDescriptorProto): string {
  const type = used ?? FieldDescriptorProto_Type[field.type].toLowerCase();
  const oneof = isFieldSet(field, FieldDescriptorProtoSchema.field.oneofIndex)
    ? message.oneofDecl[field.oneofIndex]?.name
    : undefined;
  const presence = field.proto3Optional ? 'optional ' : oneof === undefined ? '' : `oneof ${oneof} `;
  const repeated = field.label === FieldDescriptorProto_Label.REPEATED ? 'repeated ' : '';
  return `${presence}${repeated}${type} = ${field.number}`;
}

function addEnum(add: Add, scope: string, one: EnumDescriptorProto): void {
  const name = `${scope}.${one.name}`;
  add(name, 'enum');
  for (const value of one.value) add(`${name}.${value.name}`, `value = ${value.number}`);
}
