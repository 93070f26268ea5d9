/** Tables of people: passwords, sign-in links, sessions, invitations. */

// biome-ignore lint/suspicious/noEmptyInterface: filled by the feature.
export interface IdentityTables {}

export const identityV2: readonly string[] = [];
