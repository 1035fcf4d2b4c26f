"""A Singer tap of the partner's API: offset paging, the day as replication key, a look-back."""

from __future__ import annotations

from datetime import date, timedelta
from functools import cached_property
from typing import Any

from requests import Response
from singer_sdk import RESTStream, Tap
from singer_sdk import typing as th
from singer_sdk.authenticators import OAuthAuthenticator
from singer_sdk.pagination import OffsetPaginator

PAGE_SIZE = 100


class Authenticator(OAuthAuthenticator):
    @property
    def oauth_request_body(self) -> dict[str, str | None]:
        return {
            "grant_type": "client_credentials",
            "client_id": self.client_id,
            "client_secret": self.client_secret,
        }


class Paginator(OffsetPaginator):
    def has_more(self, response: Response) -> bool:
        return self.current_value + self.page_size < response.json()["meta"]["count"]


class Assessments(RESTStream[int]):
    name = "assessments"
    path = "/assessments"
    records_jsonpath = "$.data[*]"
    primary_keys = ("id",)
    replication_key = "certified_on"
    schema = th.PropertiesList(
        th.Property("id", th.IntegerType),
        th.Property("certified_on", th.DateType),
        additional_properties=True,
    ).to_dict()

    @property
    def url_base(self) -> str:
        return f"{self.config['url']}/api/v1/ax"

    @cached_property
    def authenticator(self) -> Authenticator:
        return Authenticator(
            client_id=self.config["clientId"],
            client_secret=self.config["clientSecret"],
            auth_endpoint=f"{self.config['url']}/oauth/token",
        )

    def get_new_paginator(self) -> Paginator:
        return Paginator(start_value=0, page_size=PAGE_SIZE)

    def get_url_params(
        self, context: Any, next_page_token: int | None
    ) -> dict[str, str | int]:
        params: dict[str, str | int] = {
            "sort": "certified_on",
            "order": "ASC",
            "page": PAGE_SIZE,
            "offset": next_page_token or 0,
        }
        newest = self.get_starting_replication_key_value(context)
        if newest is not None:
            back = timedelta(days=self.config["lookBackDays"])
            params["filter[start_date]"] = str(date.fromisoformat(newest) - back)
        return params


class TapCertifications(Tap):
    name = "tap-certifications"
    config_jsonschema = th.PropertiesList(
        th.Property("url", th.StringType, required=True),
        th.Property("clientId", th.StringType, required=True),
        th.Property("clientSecret", th.StringType, required=True, secret=True),
        th.Property("lookBackDays", th.IntegerType, required=True),
        th.Property("mode", th.StringType, required=True),
    ).to_dict()

    def discover_streams(self) -> list[Assessments]:
        stream = Assessments(self)
        if self.config["mode"] == "full":
            stream.forced_replication_method = "FULL_TABLE"
        return [stream]


TapCertifications.cli()
