-- Attempts that APNs is known not to have processed: a message that was refused each time was not sent, and can be withdrawn.
-- A build that does not count them leaves them fewer than the attempts, which says that something may have been sent.
alter table deliveries add refusals integer not null default 0;
