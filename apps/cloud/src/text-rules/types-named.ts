/** API names that a caller may mean by one: clients name a type in full or by its last part alone. */
export function typesNamed(type: string): readonly string[] {
  if (type === '') return [];
  return type.includes(':') ? [type] : [type, `core:component:${type}`, `core:service:${type}`];
}
