/** Fields of replies in our mission that stay empty, each with its reason. Remove a field from this list once it is filled. */
export const neverFilled: Readonly<Record<string, string>> = {
  'AuthenticatorInfo.is_deactivated': 'a history names who saved, not whether that key or person is still there',
  'GetBillingServiceConfigResponse.billing_dashboard_url': 'there is no page of that kind',
  'OrgDetails.billing_tier': 'there are no tiers',
  'PartSummary.public_ip_address': 'the address that a machine calls from is not kept',
  'PartSummary.viam_agent_version': 'no agent reports itself',
  'ViamAgentVersion.major': 'no agent reports itself',
  'ViamAgentVersion.minor': 'no agent reports itself',
  'ViamServerVersion.minor': 'the other half of a choice: the whole version stands in `major`',
};
