/** Which rows a caller may see: rows in any of the listed locations or machines (D26). */

export interface Scope {
  readonly organizationId: string;
  /** null: all locations. */
  readonly locationIds: readonly string[] | null;
  /** null: all machines; both null: the whole organization. */
  readonly robotIds: readonly string[] | null;
}
