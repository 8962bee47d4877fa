-- Who withdrew a broadcast or push, who declared a start, and who asked for it by hand: as the audit log names its actors.
-- null: nobody did, or it was done before this was kept or by a replica that did not keep it yet.
alter table broadcasts add column withdrawn_by text;
alter table event_starts add column declared_by text, add column asked_by text;

-- The topics of the apps that the key of a scheduled broadcast reached when it was accepted: it goes to no other app that
-- its event gets meanwhile. null: all apps.
alter table broadcasts add column reach text[];
